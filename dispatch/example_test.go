package dispatch_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sharehook/sharehook/dispatch"
)

// order is a record of a share group.
type order struct{ number int }

func (o order) DeliveryCount() int32 { return 1 }
func (o order) Acquired() time.Time  { return time.Now() }
func (o order) Lapsed() bool         { return false }

func (o order) Acknowledge(a dispatch.Acknowledgement, done func(error)) {
	fmt.Printf("order %d: %v\n", o.number, a)
	done(nil)
}

// group hands out three orders, then none.
type group struct{ handedOut bool }

func (g *group) Acquire(ctx context.Context, _ int) ([]dispatch.Record, error) {
	if g.handedOut {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	g.handedOut = true
	return []dispatch.Record{order{1}, order{2}, order{3}}, nil
}

// shop is busy at the first attempt and does not know order 2.
type shop struct{ settled chan struct{} }

func (s shop) Attempt(_ context.Context, r dispatch.Record, n int) dispatch.Answer {
	switch {
	case n == 1:
		return dispatch.Answer{Verdict: dispatch.VerdictRelease, Reason: "status_5xx", Status: 503}
	case r.(order).number == 2:
		return dispatch.Answer{Verdict: dispatch.VerdictReject, Reason: "status_4xx", Status: 404}
	case r.(order).number == 3:
		defer close(s.settled)
	}
	return dispatch.Answer{Verdict: dispatch.VerdictAccept, Reason: "ok", Status: 200}
}

func Example() {
	s := shop{settled: make(chan struct{})}
	retry := dispatch.DefaultRetry
	retry.InitialInterval, retry.RandomizationFactor = time.Millisecond, 0
	endpoint, err := dispatch.New(dispatch.Options{Concurrency: 1, Source: &group{}, Attempter: s, Retry: retry})
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() {
		<-s.settled
		_ = endpoint.Drain(context.Background())
	}()
	if err := endpoint.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// order 1: accept
	// order 2: reject
	// order 3: accept
}
