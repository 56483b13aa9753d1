package dispatch

import (
	"context"
	"errors"
	"fmt"
)

// ErrStopped is the cause with which attempts are cancelled when a drain has
// run out of time.
var ErrStopped = errors.New("endpoint is stopped")

// Endpoint delivers the records of one source, one after the other and many
// at a time.
type Endpoint struct{ o Options }

// Stats are an endpoint's numbers of this moment.
type Stats struct {
	Held     int // records acquired and not yet acknowledged
	Queued   int // of these, those that could be attempted now
	Waiting  int // of these, those that wait for their back-off
	InFlight int // of these, those whose attempt is under way
	Writing  int // of these, those whose dead letter is being written
	Paused   bool
}

// New makes an endpoint. It does nothing before Run.
func New(o Options) (*Endpoint, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("make endpoint: %w", err)
	}
	return &Endpoint{o: o}, nil
}

// Run acquires and delivers until Drain has ended, ctx ends (then it stops at
// once, cutting attempts short) or the source is closed for good, which is the
// only error. It may be called once.
func (e *Endpoint) Run(ctx context.Context) error { return nil }

// Drain stops acquiring, lets running attempts finish until ctx ends, then
// cuts them short, and returns when nothing is held any more.
func (e *Endpoint) Drain(ctx context.Context) error { return nil }

// Pause keeps the endpoint from attempting and acquiring until Resume.
func (e *Endpoint) Pause() {}

// Resume ends a pause.
func (e *Endpoint) Resume() {}

// Paused reports whether the endpoint is paused.
func (e *Endpoint) Paused() bool { return false }

// Stats are the numbers of this moment.
func (e *Endpoint) Stats() Stats { return Stats{} }
