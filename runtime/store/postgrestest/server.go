//go:build unix

// Package postgrestest runs PostgreSQL servers of its own for tests and trials: each in a folder of
// its own, with fsync on, and gone when the program ends, in whatever way.
//
// ROUTEGEN_POSTGRES may hold the URL of a running server instead, whose role may create roles and
// databases; faults of the server itself cannot be tried there. ROUTEGEN_POSTGRES_TESTS=required
// makes a missing server a failure where tests are skipped otherwise.
package postgrestest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing is returned where no PostgreSQL is installed.
var ErrMissing = errors.New("there is no PostgreSQL here: .ci/postgres installs Debian's package")

// Instance is a running server. Its methods belong to one goroutine at a time.
type Instance struct {
	bin, dir string
	as       *syscall.Credential // of the server's processes; nil: those of this one
	ended    chan error
	process  *os.Process
	log      string
}

// StartInstance makes a new server in an empty folder, which another user must be able to reach if
// this program runs as root: PostgreSQL refuses to. It listens on a socket in the folder, whose
// path must have less than 90 bytes. settings are added to its configuration. It returns ErrMissing
// where PostgreSQL is not installed.
func StartInstance(dir string, settings ...string) (*Instance, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Instance{bin: bin, dir: dir, log: filepath.Join(dir, "log")}
	if os.Geteuid() == 0 {
		if s.as, err = unprivileged(); err != nil {
			return nil, err
		}
		if err = os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	//nolint:gosec // the PostgreSQL that is installed here
	initdb := exec.CommandContext(context.Background(), filepath.Join(bin, "initdb"), "-D", data,
		"-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "-E", "UTF8")
	initdb.Dir, initdb.SysProcAttr = dir, s.attributes()
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	conf, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	lines := append([]string{"listen_addresses = ''", "port = 5432",
		fmt.Sprintf("unix_socket_directories = '%s'", dir), "max_connections = 200"}, settings...)
	_, err = conf.WriteString(strings.Join(lines, "\n") + "\n")
	if err = errors.Join(err, conf.Close()); err != nil {
		return nil, err
	}
	return s, s.Restart()
}

// URL returns the URL of a database for a role, over the socket.
func (s *Instance) URL(role, database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s&port=5432", url.PathEscape(role),
		url.PathEscape(database), url.QueryEscape(s.dir))
}

// Restart starts a server that was stopped, and returns when it takes connections.
func (s *Instance) Restart() error {
	out, err := os.OpenFile(s.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	started := make(chan error, 1)
	s.ended = make(chan error, 1)
	go runGuarded(func() error {
		c := exec.CommandContext(context.Background(), filepath.Join(s.bin, "postgres"), "-D",
			filepath.Join(s.dir, "data"))
		c.Dir, c.Stdout, c.Stderr, c.SysProcAttr = s.dir, out, out, s.attributes()
		err := c.Start()
		s.process = c.Process
		started <- err
		if err != nil {
			return err
		}
		return c.Wait()
	}, s.ended)
	if err := <-started; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		ready := exec.CommandContext(ctx, filepath.Join(s.bin, "pg_isready"), "-q", "-h", s.dir,
			"-p", "5432")
		if ready.Run() == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case err := <-s.ended:
			s.ended <- err
			text, _ := os.ReadFile(s.log)
			return fmt.Errorf("the server did not start: %w: %s", err, text)
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", ctx.Err())
		}
	}
}

// Stop stops the server and returns when it has ended. How is what pg_ctl calls the mode: "fast"
// ends connections, and "immediate" stops as a crash would.
func (s *Instance) Stop(how string) error {
	signal := syscall.SIGINT
	if how == "immediate" {
		signal = syscall.SIGQUIT
	}
	if err := s.process.Signal(signal); err != nil {
		return err
	}
	<-s.ended //nolint:errcheck // it was stopped, however it says so
	return nil
}

// binaries returns the folder of the newest PostgreSQL.
func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is valid
	if len(found) > 0 {
		newest := slices.MaxFunc(found, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		})
		return filepath.Dir(newest), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", ErrMissing
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

// unprivileged returns the user that the server runs as where this program runs as root.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres " +
		"or nobody")
}
