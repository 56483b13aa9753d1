package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault of a configuration file.
type Problem struct {
	File         string
	Line, Column int    // from 1
	Path         string // as endpoints[1].retry.attempts; empty: the file as a whole
	Reason       string // what is wrong; what to do
}

// Error returns FILE:LINE:COLUMN: path: what is wrong; what to do.
func (p Problem) Error() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Column, p.Path, p.Reason)
}

// Problems are all faults of a configuration, in file order.
type Problems []Problem

// Error returns one line for each fault.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns every Problem as an error.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// place is where something stands in a file.
type place struct {
	file         string
	line, column int
}

func (p place) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column) }

// report gathers faults.
type report struct {
	problems Problems
}

func (r *report) add(at place, path, reason string) {
	r.problems = append(r.problems, Problem{
		File: at.file, Line: max(at.line, 1), Column: max(at.column, 1), Path: path, Reason: reason,
	})
}

// err returns the faults in file order, or nil. A fault that several
// endpoints inherit from defaults, or share by an alias, is one fault.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	type once struct {
		file         string
		line, column int
		reason       string
	}
	seen := make(map[once]bool, len(r.problems))
	unique := r.problems[:0]
	for _, p := range r.problems {
		o := once{p.File, p.Line, p.Column, p.Reason}
		if !seen[o] {
			seen[o] = true
			unique = append(unique, p)
		}
	}
	return unique
}
