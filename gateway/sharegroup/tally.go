package sharegroup

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// tally gathers what answers mean, to be reported without the lock.
type tally struct {
	done    []func(error)
	counts  map[tallyKey]int
	renewed int
	errs    map[string]lost
}

// lost are acknowledgements that came to nothing, by the name of the error.
type lost struct {
	err error
	n   int
}

type tallyKey struct {
	expression string
	decided    Acknowledgement
}

func (t *tally) acknowledged(r *Record) {
	if t.counts == nil {
		t.counts = make(map[tallyKey]int, 1)
	}
	t.counts[tallyKey{r.Expression, r.decided}]++
	if r.done != nil {
		t.done = append(t.done, r.done)
		r.done = nil
	}
}

func (t *tally) failed(err error, n int) {
	if t.errs == nil {
		t.errs = make(map[string]lost, 1)
	}
	name := errorName(err)
	t.errs[name] = lost{err, t.errs[name].n + n}
}

func (t *tally) report(g *Group) {
	for k, n := range t.counts {
		g.observer.Acknowledged(k.expression, k.decided, n)
	}
	if t.renewed > 0 {
		g.observer.Renewed(t.renewed)
	}
	for name, l := range t.errs {
		g.observer.AcknowledgementError(name, l.n)
		g.log.Warn("acknowledge records: those not confirmed are delivered again", "records", l.n, "error", l.err)
	}
	for _, done := range t.done {
		done(nil)
	}
}

// errorName is Kafka's name of an error, for a metric.
func errorName(err error) string {
	var ke *kerr.Error
	switch {
	case errors.As(err, &ke):
		return ke.Message
	case errors.Is(err, ErrUnanswered):
		return "unanswered"
	case errors.Is(err, context.Canceled), errors.Is(err, kgo.ErrClientClosed):
		return "closed"
	default:
		return "connection"
	}
}
