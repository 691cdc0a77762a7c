package mem

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
)

// copyOf returns a deep copy that is what sealing and unsealing would give, at a tenth of the cost: a record of this store is one that has been
// on a disk. What has no sealed form is refused with CodeInvalid.
func copyOf[T any](v T) (out T, err error) {
	from := reflect.ValueOf(&v).Elem()
	err = planOf(from.Type())(reflect.ValueOf(&out).Elem(), from, false)
	if err != nil {
		err = refuse(runtime.CodeInvalid, "seal", err)
	}
	return out, err
}

// plan copies values of one type. dropped says that an empty value is left out of the sealed form.
type plan func(to, from reflect.Value, dropped bool) error

var (
	plans   sync.Map // of plan by reflect.Type
	rawType = reflect.TypeFor[json.RawMessage]()
	atType  = reflect.TypeFor[time.Time]()
	codec   = reflect.TypeFor[json.Marshaler]()
)

// planOf returns the plan of a type. While it is made, a type that holds itself and other goroutines get a plan that waits for it.
func planOf(t reflect.Type) plan {
	if p, ok := plans.Load(t); ok {
		return p.(plan) //nolint:forcetypeassert // nothing else is stored
	}
	var own plan
	made := make(chan struct{})
	waits := plan(func(to, from reflect.Value, dropped bool) error {
		<-made
		return own(to, from, dropped)
	})
	if p, ok := plans.LoadOrStore(t, waits); ok {
		return p.(plan) //nolint:forcetypeassert // as above
	}
	own = makePlan(t)
	close(made)
	plans.Store(t, own)
	return own
}

func makePlan(t reflect.Type) plan {
	switch {
	case t == rawType:
		return copyRaw
	case t == atType:
		return func(to, from reflect.Value, _ bool) error {
			at, _ := reflect.TypeAssert[time.Time](from)
			to.Set(reflect.ValueOf(at.Round(0).UTC()))
			return nil
		}
	case t.Implements(codec) || reflect.PointerTo(t).Implements(codec):
		return sealed
	}
	switch t.Kind() { //nolint:exhaustive // the others are values, or have no sealed form
	case reflect.String:
		return copyText
	case reflect.Pointer:
		return copyPointer(planOf(t.Elem()))
	case reflect.Slice:
		return copySlice(planOf(t.Elem()))
	case reflect.Map:
		return copyMap(planOf(t.Elem()))
	case reflect.Struct:
		return copyFields(t)
	case reflect.Interface, reflect.Float32, reflect.Float64, reflect.Array:
		return sealed
	}
	return func(to, from reflect.Value, _ bool) error {
		to.Set(from)
		return nil
	}
}

// sealed copies by way of the sealed form itself: for what is rare.
func sealed(to, from reflect.Value, _ bool) error {
	data, err := runtime.Seal(from.Interface())
	if err != nil {
		return err
	}
	return runtime.Unseal(data, to.Addr().Interface())
}

func copyRaw(to, from reflect.Value, dropped bool) error {
	raw := from.Bytes()
	switch {
	case len(raw) == 0 && dropped:
		return nil
	case from.IsNil():
		raw = []byte("null")
	}
	out := bytes.NewBuffer(make([]byte, 0, len(raw)))
	if err := json.Compact(out, raw); err != nil {
		return err
	}
	to.SetBytes(out.Bytes())
	return nil
}

func copyText(to, from reflect.Value, _ bool) error {
	text := from.String()
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // each byte that is none of UTF-8 becomes U+FFFD, as in JSON
	}
	to.SetString(strings.Clone(text))
	return nil
}

func copyPointer(elem plan) plan {
	return func(to, from reflect.Value, _ bool) error {
		if from.IsNil() {
			return nil
		}
		to.Set(reflect.New(from.Type().Elem()))
		return elem(to.Elem(), from.Elem(), false)
	}
}

func copySlice(elem plan) plan {
	return func(to, from reflect.Value, dropped bool) error {
		n := from.Len()
		if from.IsNil() || n == 0 && dropped {
			return nil
		}
		to.Set(reflect.MakeSlice(from.Type(), n, n))
		for i := range n {
			if err := elem(to.Index(i), from.Index(i), false); err != nil {
				return err
			}
		}
		return nil
	}
}

func copyMap(elem plan) plan {
	return func(to, from reflect.Value, dropped bool) error {
		if from.IsNil() || from.Len() == 0 && dropped {
			return nil
		}
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		for each := from.MapRange(); each.Next(); { // into another map: the order does not show
			v := reflect.New(from.Type().Elem()).Elem()
			if err := elem(v, each.Value(), false); err != nil {
				return err
			}
			to.SetMapIndex(each.Key(), v)
		}
		return nil
	}
}

// copyFields copies the fields that have a sealed form.
func copyFields(t reflect.Type) plan {
	type part struct {
		at      int
		copy    plan
		dropped bool
	}
	var parts []part
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if f.IsExported() && tag != "-" {
			parts = append(parts, part{f.Index[0], planOf(f.Type), strings.Contains(tag, ",omitempty")})
		}
	}
	return func(to, from reflect.Value, _ bool) error {
		for _, p := range parts {
			if err := p.copy(to.Field(p.at), from.Field(p.at), p.dropped); err != nil {
				return err
			}
		}
		return nil
	}
}
