package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeRecord is a record that a test holds the strings of.
type fakeRecord struct {
	name     string
	count    atomic.Int32
	acquired time.Time
	lapsed   atomic.Bool
	confirm  error // what done is told
}

func newRecord(name string, count int32) *fakeRecord {
	r := &fakeRecord{name: name, acquired: time.Now()}
	r.count.Store(count)
	return r
}

func (r *fakeRecord) DeliveryCount() int32                            { return r.count.Load() }
func (r *fakeRecord) Acquired() time.Time                             { return r.acquired }
func (r *fakeRecord) Lapsed() bool                                    { return r.lapsed.Load() }
func (r *fakeRecord) Acknowledge(_ Acknowledgement, done func(error)) { done(r.confirm) }

var errClosed = errors.New("source is closed")

// fakeSource hands out what it is fed.
type fakeSource struct {
	mu     sync.Mutex
	ready  []Record
	rooms  []int // what was asked for
	fed    chan struct{}
	closed bool
	// late are handed out by an Acquire that was stopped.
	late []Record
}

func (s *fakeSource) Acquire(ctx context.Context, room int) ([]Record, error) {
	s.mu.Lock()
	s.rooms = append(s.rooms, room)
	s.mu.Unlock()
	for {
		s.mu.Lock()
		if n := min(room, len(s.ready)); n > 0 {
			out := s.ready[:n:n]
			s.ready = s.ready[n:]
			s.mu.Unlock()
			return out, nil
		}
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return nil, errClosed
		}
		select {
		case <-ctx.Done():
			s.mu.Lock()
			late := s.late
			s.late = nil
			s.mu.Unlock()
			return late, ctx.Err()
		case <-s.fed:
		}
	}
}

func (s *fakeSource) feed(records ...*fakeRecord) {
	s.mu.Lock()
	for _, r := range records {
		s.ready = append(s.ready, r)
	}
	s.mu.Unlock()
	s.wake()
}

func (s *fakeSource) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wake()
}

func (s *fakeSource) wake() {
	select {
	case s.fed <- struct{}{}:
	default:
	}
}

func (s *fakeSource) asked() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rooms)
}

// bed is an endpoint that runs in a bubble of fake time, and the timeline of
// all that happened to it.
type bed struct {
	*Endpoint
	t      *testing.T
	source *fakeSource
	start  time.Time
	stop   context.CancelFunc
	ended  chan struct{}
	err    error // of Run, once ended is closed
	// onWaiting is called when a record is about to wait.
	onWaiting func()

	mu       sync.Mutex
	timeline []string
	outcomes map[string]Outcome
}

// post answers attempt n of the record r.
type post func(ctx context.Context, r *fakeRecord, n int) Answer

func (p post) Attempt(ctx context.Context, r Record, n int) Answer {
	return p(ctx, r.(*fakeRecord), n)
}

// letters writes a dead letter.
type letters func(ctx context.Context, r *fakeRecord, o Outcome) error

func (l letters) WriteDeadLetter(ctx context.Context, r Record, o Outcome) error {
	return l(ctx, r.(*fakeRecord), o)
}

// exactly is a Retry without randomization.
var exactly = Retry{
	Attempts: 3, InitialInterval: time.Second, Multiplier: 2,
	MaxInterval: 30 * time.Second, MaxElapsedTime: 10 * time.Minute,
}

var (
	ok      = Answer{Verdict: VerdictAccept, Reason: "ok", Status: 200}
	failure = Answer{Verdict: VerdictRelease, Reason: "status_5xx", Status: 500}
	refusal = Answer{Verdict: VerdictReject, Reason: "status_4xx", Status: 400}
)

// always answers every attempt alike, after a time.
func always(a Answer, after time.Duration) post {
	return func(ctx context.Context, _ *fakeRecord, _ int) Answer {
		select {
		case <-time.After(after):
			return a
		case <-ctx.Done():
			return Answer{Verdict: VerdictRelease, Reason: "timeout", Cause: context.Cause(ctx)}
		}
	}
}

// script answers the attempts of each record in turn, at once.
func script(answers ...Answer) post {
	return func(_ context.Context, _ *fakeRecord, n int) Answer { return answers[n-1] }
}

// setup runs an endpoint in the bubble of t until the test ends.
func setup(t *testing.T, o Options, p post) *bed {
	t.Helper()
	b := &bed{
		t:        t,
		source:   &fakeSource{fed: make(chan struct{}, 1)},
		start:    time.Now(),
		ended:    make(chan struct{}),
		outcomes: map[string]Outcome{},
	}
	if o.Retry == (Retry{}) {
		o.Retry = exactly
	}
	o.Source, o.Observer = b.source, b
	o.Attempter = post(func(ctx context.Context, r *fakeRecord, n int) Answer {
		b.note(r, "posts %d", n)
		return p(ctx, r, n)
	})
	var err error
	if b.Endpoint, err = New(o); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	b.stop = stop
	go func() {
		defer close(b.ended)
		b.err = b.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-b.ended
		if s := b.Stats(); s.Held+s.Queued+s.Waiting+s.InFlight+s.Letters != 0 {
			t.Errorf("after Run: %+v, want nothing held", s)
		}
	})
	return b
}

func (b *bed) note(r Record, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timeline = append(b.timeline,
		fmt.Sprintf("%v %s %s", time.Since(b.start), r.(*fakeRecord).name, fmt.Sprintf(format, args...)))
}

func (b *bed) Started(ctx context.Context, _ Record) context.Context { return ctx }

func (b *bed) Attempted(context.Context, Record, int, Answer) {}

func (b *bed) Waiting(_ context.Context, r Record, w Wait) {
	b.note(r, "waits %v %s", w.For, w.Cause)
	if b.onWaiting != nil {
		b.onWaiting()
	}
}

func (b *bed) Finished(_ context.Context, r Record, o Outcome, err error) {
	b.note(r, "ends %s", describe(o, err))
	b.mu.Lock()
	defer b.mu.Unlock()
	name := r.(*fakeRecord).name
	if _, twice := b.outcomes[name]; twice {
		b.t.Errorf("%s ended twice", name)
	}
	b.outcomes[name] = o
}

func (b *bed) BreakerChanged(c BreakerChange) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timeline = append(b.timeline, strings.TrimSpace(fmt.Sprintf("%v breaker %v %s", time.Since(b.start), c.To, c.Cause)))
}

// outcome is how the delivery of that name ended; zero if it has not.
func (b *bed) outcome(name string) Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.outcomes[name]
}

// describe is an outcome in words: acknowledgement, reason and what is special.
func describe(o Outcome, err error) string {
	words := []string{o.Acknowledgement.String()}
	add := func(word string, ok bool) {
		if ok {
			words = append(words, word)
		}
	}
	add(o.Reason, o.Reason != "")
	add("dead-letter="+string(o.DeadLetter), o.DeadLetter != "")
	add("interrupted", o.Interrupted)
	add("lapsed", o.Lapsed)
	add("unconfirmed", err != nil)
	return strings.Join(words, " ")
}

// after lets fake time pass until d after the start, and all that happens then.
func (b *bed) after(d time.Duration) {
	time.Sleep(time.Until(b.start.Add(d)))
	synctest.Wait()
}

// want compares the timeline. Things of the same moment may come in any order.
func (b *bed) want(lines ...string) {
	b.t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := slices.Clone(b.timeline)
	if !slices.Equal(byMoment(got), byMoment(lines)) {
		b.t.Errorf("timeline:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

// byMoment sorts the lines of each moment and record by their first words, the
// moments staying as they are: records side by side have no order.
func byMoment(lines []string) []string {
	key := func(line string) string {
		words := strings.Fields(line)
		return words[1]
	}
	out := slices.Clone(lines)
	for from := 0; from < len(out); {
		to := from + 1
		for to < len(out) && strings.Fields(out[to])[0] == strings.Fields(out[from])[0] {
			to++
		}
		slices.SortStableFunc(out[from:to], func(a, b string) int { return strings.Compare(key(a), key(b)) })
		from = to
	}
	return out
}

// wantStats compares the numbers of this moment.
func (b *bed) wantStats(want Stats) {
	b.t.Helper()
	synctest.Wait()
	if got := b.Stats(); got != want {
		b.t.Errorf("stats at %v: %+v, want %+v", time.Since(b.start), got, want)
	}
}

// drain drains within d and returns at once; the error comes later.
func (b *bed) drain(d time.Duration) <-chan error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		done <- b.Drain(ctx)
	}()
	return done
}
