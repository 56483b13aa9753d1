package sharegroup

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

// veiled hides every value of a context. kgo finds a record's acknowledgement
// state through Record.Context.
type veiled struct{ context.Context } //nolint:containedctx // it is one

// Value answers nil to every key.
func (veiled) Value(any) any { return nil }

// veil implements kgo's hooks for records that enter and leave its buffer.
//
// OnFetchRecordBuffered runs on the goroutine of the fetch, before a poll can
// see the record; OnFetchRecordUnbuffered runs on the polling goroutine after
// the poll has looked for acknowledgement states and before it returns.
type veil struct {
	// buffered is called for each record as it enters the buffer, while its
	// acknowledgement state can still be read.
	buffered func(*kgo.Record)
	// arrived is called for each record that leaves the buffer, polled or
	// stripped because its topic is paused.
	arrived func(*kgo.Record)
}

var (
	_ kgo.HookFetchRecordBuffered   = (*veil)(nil)
	_ kgo.HookFetchRecordUnbuffered = (*veil)(nil)
)

// OnFetchRecordBuffered draws the veil.
func (v *veil) OnFetchRecordBuffered(r *kgo.Record) {
	v.buffered(r)
	r.Context = veiled{r.Context}
}

// OnFetchRecordUnbuffered lifts it, and hands the record over.
func (v *veil) OnFetchRecordUnbuffered(r *kgo.Record, _ bool) {
	if c, ok := r.Context.(veiled); ok {
		r.Context = c.Context
	}
	v.arrived(r)
}
