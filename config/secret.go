package config

import (
	"fmt"
	"io"
	"log/slog"
)

// hiddenText stands for every secret that is shown to somebody.
const hiddenText = "<secret>"

// Secret is a text that must not be seen: whatever prints it prints a
// placeholder. An empty Secret prints as empty, which tells no more than that
// none is set.
type Secret string

// Reveal returns the secret itself. Call it only where it is sent.
func (s Secret) Reveal() string { return string(s) }

// String returns the placeholder.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hiddenText
}

// GoString returns the placeholder, for %#v.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format writes the placeholder for every verb. Without it a verb that does
// not fit a string, as %d, would print the secret in its complaint.
func (s Secret) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('#') {
		_, _ = io.WriteString(f, s.GoString())
		return
	}
	_, _ = io.WriteString(f, s.String())
}

// MarshalText returns the placeholder, for JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the placeholder, for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
