package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// kind is the form that a key's value has.
type kind uint8

const (
	object    kind = iota + 1 // a mapping with keys of its own
	objects                   // a list of such mappings
	text                      // a string
	secret                    // a string that is never shown
	texts                     // a list of strings
	secrets                   // a list of strings that are never shown
	textMap                   // a mapping of any names to strings
	boolean                   // true or false
	integer                   // a whole number
	decimal                   // a number
	duration                  // a Go duration
	readAhead                 // auto, or a whole number
	rate                      // a number per second, minute or hour
)

// wants says what a value of the kind looks like.
func (k kind) wants() string {
	switch k {
	case object:
		return "a mapping"
	case objects:
		return "a list of mappings"
	case texts, secrets:
		return "a list of strings"
	case textMap:
		return "a mapping of names to strings"
	case boolean:
		return "true or false"
	case integer:
		return "a whole number"
	case decimal:
		return "a number"
	case duration:
		return "a duration such as 10s"
	case readAhead:
		return "auto or a whole number"
	case rate:
		return "a rate such as 200/s or 1000/m"
	case text, secret:
		return "a string"
	default:
		return "nothing"
	}
}

// key describes one key of the file: the decoder, the schema and the printer
// know nothing about it but this.
type key struct {
	name string
	kind kind
	doc  string // one line for the schema

	def      any    // the default; nil: none, or one that depends on others
	defDoc   string // says such a default in words
	required bool
	optional bool // an object that is absent unless written
	notYet   bool // known, but its feature is not built: a fault
	alone    bool // cannot stand in defaults
	isPath   bool // a file, relative to the folder of the YAML file
	private  bool // a value that a fault never quotes, though it is no secret

	enum      []string // the values that a text may have
	enumLater []string // those whose feature is not built
	limits    *limits  // of a number or a duration
	keys      []key    // of an object

	// check tells what is wrong with one text, of a list or a map with each;
	// empty: nothing. The answer does not repeat the value.
	check func(string) string
	// checkName does so with a name of a textMap.
	checkName func(string) string
}

// limits are the least and the greatest value; nanoseconds for durations.
type limits struct{ least, most float64 }

// between makes limits of the type that the key has.
func between[N ~int | ~int64 | ~float64](least, most N) *limits {
	return &limits{float64(least), float64(most)}
}

// advice says what to write for a key that is missing.
func (k key) advice() string {
	doc := strings.TrimSuffix(k.doc, ".")
	return fmt.Sprintf("add %s: %s%s", k.name, strings.ToLower(doc[:1]), doc[1:])
}

// find returns the key of that name.
func find(keys []key, name string) (key, bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// field returns the field of a struct that holds a key.
func field(of reflect.Value, name string) reflect.Value {
	t := of.Type()
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == name {
			return of.Field(i)
		}
	}
	// The table and the structs belong together; a test compares them.
	panic("config: no field for key " + name)
}

// fill writes the defaults of the keys into a struct.
func fill(keys []key, into reflect.Value) {
	for _, k := range keys {
		switch {
		case k.notYet:
		case k.kind == object && !k.optional:
			fill(k.keys, field(into, k.name))
		case k.kind == texts:
			// A copy: the table's own list must not be reachable from a Config.
			list, _ := k.def.([]string)
			field(into, k.name).Set(reflect.ValueOf(slices.Clone(list)))
		case k.def != nil:
			field(into, k.name).Set(reflect.ValueOf(k.def))
		}
	}
}
