package cluster

import "fmt"

// Level says how much a [Finding] weighs.
type Level uint8

const (
	// LevelInvalid is the zero Level and never returned.
	LevelInvalid Level = iota
	// Warning: the endpoint can run, but somebody should know.
	Warning
	// Unverified: the cluster did not permit to look, so that a fault may
	// hide here.
	Unverified
	// Fault: records would be lost or go round in a circle; the endpoint must
	// not run.
	Fault
)

func (l Level) String() string {
	switch l {
	case Warning:
		return "warning"
	case Unverified:
		return "unverified"
	case Fault:
		return "fault"
	case LevelInvalid:
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// MarshalText makes a Level readable in JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is one thing that is wrong, or may be, and what to do about it.
type Finding struct {
	Level   Level  `json:"level"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// String is the whole finding in one line, without its level.
func (f Finding) String() string { return f.Problem + "; " + f.Remedy }

// Findings are in the order in which they were looked for: a later one may be
// a consequence of an earlier one.
type Findings []Finding

// At returns the findings of one level, in order.
func (fs Findings) At(level Level) Findings {
	var at Findings
	for _, f := range fs {
		if f.Level == level {
			at = append(at, f)
		}
	}
	return at
}

// Faults returns the findings that forbid the endpoint to run.
func (fs Findings) Faults() Findings { return fs.At(Fault) }

func (fs *Findings) add(level Level, remedy, problem string, args ...any) {
	*fs = append(*fs, Finding{Level: level, Problem: fmt.Sprintf(problem, args...), Remedy: remedy})
}
