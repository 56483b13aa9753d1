// Package config turns the YAML file of Sharehook into checked plain values.
//
// [Load] reads a file or a folder, [Parse] reads bytes. Both answer with a
// [Config] in which every default is filled in and every value is within its
// bounds, or with [Problems]: all faults of the file at once, in file order,
// each with the file, line and column where it stands.
//
// The package is a leaf. It knows no part that it configures, opens no
// connection, logs nothing and has no state: the same bytes, environment and
// files always give the same Config.
//
// # How a file becomes a Config
//
// The YAML library only builds its tree of nodes, which keeps lines and
// columns. One table (keys.go) then says for every key what its value may be,
// its default and what it is for. The decoder, the JSON Schema and the printer
// all walk this table, so they cannot know different keys. A decoder of our
// own, because that of the library stops being strict beneath a type with an
// unmarshaler of its own, and because its faults are only texts.
//
//   - source.go: bytes to nodes; one document, not empty
//   - section.go, decode.go, scalar.go: nodes to values, by the table
//   - replace.go: what ${env:NAME}, ${file:PATH} and $$ bring in
//   - check.go: what one key alone cannot tell
//   - print.go, schema.go, json.go: the way back
//
// # Decisions
//
//   - A string is taken letter by letter: 0123 keeps its zero, no stays no. A
//     number, a boolean or a duration must be one; quoted digits are a string.
//   - A key with nothing behind it is unset where that means something (an
//     optional string, an object, defaults), and a fault elsewhere.
//   - Aliases are followed, within a bound on all values together. Merge keys
//     (<<) and tags are faults: defaults is there for what is shared.
//   - ${env:NAME:-default} gives the default for an empty variable too, as the
//     shell does. A dollar sign that begins neither $$ nor ${ is a dollar sign.
//   - Defaults are merged into each endpoint: mappings key by key, lists and
//     single values whole, header names without regard to case.
//   - A status that somebody wrote beats a list of status that nobody wrote.
//
// # Invariants
//
//   - A fault never quotes a value that a replacement brought in, a secret, a
//     header value or a URL.
//   - What a replacement brings in is a plain string. In a key that is a
//     number, a duration or true/false it is read as one, as a whole; it never
//     becomes a list, a mapping or another replacement.
//   - An empty list or map is nil, so that equal endpoints are equal for
//     reflect.DeepEqual, however they were written.
//   - A key that is known but not built yet is a fault, never ignored.
//   - [Parse] of what [Config.Print] wrote gives the same Config, if no secret
//     was hidden.
package config
