package inspector

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed page
var pages embed.FS

// Words returns the words of the page's history as JSON: who is who, what can be ordered, and the
// lines for the rows of a thread. A terminal that shows the same rows says the same.
func Words() []byte {
	// the folder is part of the program
	text, _ := fs.ReadFile(pages, "page/words.js")
	return bytes.TrimPrefix(text, []byte("export default "))
}

// Config is what the page can be told. The zero value works.
type Config struct {
	Title string // in the header and in the title of the tab; default: Inspector
	API   string // where the calls are, from the page; default: v1/
	// where people sign in with their accounts, and POST signs them out, from the page, for
	// example ../auth/login of package oidc; default: with tokens only
	Login, Logout string
	// other inspectors of the same origin, and this one: the header offers them; default: none
	Places []Place
}

// Place is an inspector that the header offers. The places of one origin share the token of the
// tab.
type Place struct {
	Name string
	Path string // of the page, like /billing/
}

// policy lets the page have its own files and calls, and nothing else. Text never becomes markup:
// there is no policy that could make it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// file is a file of the page, ready to go out.
type file struct {
	media         string
	plain, packed []byte
	tag           string
}

// Handler serves the page at /, and its files below. It answers GET and HEAD, has no state, and may
// be used by any number of goroutines. It holds no secrets and asks for no token: what the page
// shows comes from the calls, which do.
func Handler(cfg Config) http.Handler {
	if cfg.Title == "" {
		cfg.Title = "Inspector"
	}
	if cfg.API == "" {
		cfg.API = "v1/"
	}
	files := load(cfg)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// nothing here takes one, and net/http would wait for it before it replies
		if r.Body != http.NoBody {
			h.Set("Connection", "close")
			// a recorder in a test has none
			_ = http.NewResponseController(w).SetReadDeadline(time.Now())
		}
		f, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		default:
			f.serveFile(w, r)
		}
	})
}

// serveFile sends a file, packed where the client takes that, and not again when the client has it.
func (f *file) serveFile(w http.ResponseWriter, r *http.Request) {
	h, body, tag := w.Header(), f.plain, f.tag
	h.Set("Vary", "Accept-Encoding")
	// ask whether it changed: the next version of a program has another page
	h.Set("Cache-Control", "no-cache")
	if packs(r) && f.packed != nil {
		body, tag = f.packed, f.tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	if r.Header.Get("If-None-Match") == `"`+tag+`"` {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.media)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a client that is gone needs no more
	}
}

// packs reports whether a client takes gzip.
func packs(r *http.Request) bool {
	for offer := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(offer), ";")
		if strings.TrimSpace(coding) == "gzip" {
			return strings.TrimSpace(weight) != "q=0"
		}
	}
	return false
}

// load prepares the files by their path; the page itself is "". The folder is part of the program,
// so what could go wrong is a defect of it, and its test would have found it.
func load(cfg Config) map[string]*file {
	out := map[string]*file{}
	root, _ := fs.Sub(pages, "page")
	names, _ := fs.Glob(root, "*")
	modules := []string{}
	for _, name := range names {
		if path.Ext(name) == ".js" {
			modules = append(modules, name)
		}
	}
	for _, name := range names {
		data, _ := fs.ReadFile(root, name)
		if name == "index.html" {
			var page bytes.Buffer
			_ = template.Must(template.New(name).Parse(string(data))).Execute(&page, struct {
				Config
				Modules []string
			}{cfg, modules})
			out[""] = prepare(name, page.Bytes())
			continue
		}
		out[name] = prepare(name, data)
	}
	return out
}

func prepare(name string, data []byte) *file {
	sum := sha256.Sum256(data)
	f := &file{media: mediaType(name), plain: data, tag: hex.EncodeToString(sum[:8])}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = z.Write(data)
	_ = z.Close()
	if b.Len() < len(data) {
		f.packed = b.Bytes()
	}
	return f
}

// mediaType is by the table of this program: what the machine says of .js may be anything.
func mediaType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return mime.TypeByExtension(ext)
	}
}
