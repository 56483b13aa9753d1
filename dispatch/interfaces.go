package dispatch

import (
	"context"
	"time"
)

// Record is what dispatch needs to know of a record that it holds. Its
// methods are called from several goroutines.
type Record interface {
	// DeliveryCount is Kafka's, 1 at the first delivery. It may change while
	// the record is held: after a leader move the record is handed out anew
	// under the running attempt.
	DeliveryCount() int32
	// Acquired says when the record was acquired.
	Acquired() time.Time
	// Lapsed reports that the lock is lost: no acknowledgement of ours would
	// be taken. It is called often and under a lock: it must be quick and
	// must not call back into the endpoint.
	Lapsed() bool
	// Acknowledge ends the record and returns at once. done is called exactly
	// once, from any goroutine, even before Acknowledge returns: with nil
	// when the broker has confirmed, else with the reason why it never will.
	Acknowledge(a Acknowledgement, done func(error))
}

// Source hands out records.
type Source interface {
	// Acquire waits for records and returns 1 to room of them. It returns an
	// error when ctx has ended, or when no record will ever come any more.
	// Records that it returns along with an error count as handed out.
	Acquire(ctx context.Context, room int) ([]Record, error)
}

// Attempter makes one attempt.
type Attempter interface {
	// Attempt is attempt number n, from 1, of this delivery. It bounds its own
	// time, and returns soon after ctx has ended; context.Cause(ctx) is then
	// [ErrStopped].
	Attempt(ctx context.Context, r Record, n int) Answer
}

// DeadLetterer writes dead letters, for groups whose broker does not.
type DeadLetterer interface {
	// WriteDeadLetter returns nil when the dead letter of r is safe, and soon
	// after ctx has ended. o.DeadLetter says why it is one.
	WriteDeadLetter(ctx context.Context, r Record, o Outcome) error
}

// Observer is told what happens to each delivery, in this order. Its methods
// must be quick; they are called by the goroutines that deliver. An observer
// only watches: its panic is logged and changes no outcome.
type Observer interface {
	// Started: r is held. The context returned is that of its attempts and of
	// all later calls; it must be ctx or a child of it.
	Started(ctx context.Context, r Record) context.Context
	// Attempted: attempt n was answered.
	Attempted(ctx context.Context, r Record, n int, a Answer)
	// Waiting: nothing happens to r for a while.
	Waiting(ctx context.Context, r Record, w Wait)
	// Finished: the delivery has ended. err is nil when the broker has
	// confirmed o.Acknowledgement, or when there was none to confirm. After
	// Run has returned it may still be called for acknowledgements under way.
	Finished(ctx context.Context, r Record, o Outcome, err error)
	// BreakerChanged: the breaker has passed into another state. The changes
	// come one by one and in order, but between the calls about records.
	BreakerChanged(c BreakerChange)
}

// Wait is a pause within a delivery.
type Wait struct {
	Cause WaitCause
	For   time.Duration // 0: until the endpoint is resumed, or the breaker lets attempts pass
	Err   error         // WaitDeadLetter: why writing failed
}

// WaitCause is why a delivery waits.
type WaitCause string

// The causes of waits.
const (
	WaitRedelivery WaitCause = "redelivery"  // before the first attempt of a later delivery
	WaitBackOff    WaitCause = "back_off"    // between two attempts
	WaitRetryAfter WaitCause = "retry_after" // the same, as long as the endpoint asked for
	WaitPaused     WaitCause = "paused"      // the endpoint is gone until it is resumed
	WaitBreaker    WaitCause = "breaker"     // the breaker is open
	WaitHeld       WaitCause = "held"        // nothing can be sent, for a fault of ours
	WaitDeadLetter WaitCause = "dead_letter" // writing the dead letter failed
)

// unobserved is the Observer of an endpoint that has none.
type unobserved struct{}

func (unobserved) Started(ctx context.Context, _ Record) context.Context { return ctx }
func (unobserved) Attempted(context.Context, Record, int, Answer)        {}
func (unobserved) Waiting(context.Context, Record, Wait)                 {}
func (unobserved) Finished(context.Context, Record, Outcome, error)      {}
func (unobserved) BreakerChanged(BreakerChange)                          {}
