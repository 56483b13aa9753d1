package webhooks

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxRenewalMargin is how long before its end a token is renewed, at most.
	// Of a short life it is a quarter.
	maxRenewalMargin = time.Minute
	// Back-off between two failed renewals.
	minTokenWait = time.Second
	maxTokenWait = 30 * time.Second
	// unprovenPause is how long a token that took the place of a refused one,
	// and was refused as well, is kept all the same: an endpoint that refuses
	// every token must not make us ask for one with each record.
	unprovenPause = 30 * time.Second
)

// tokens keeps the token of an endpoint: an access token, or whatever else
// authenticates for a time. One renewal serves all attempts that wait for it. A
// token is renewed early, while it is still used; when it is refused; and when
// it has ended. While no token can be had, nobody has to wait for more than one
// failed renewal to learn of it.
type tokens struct {
	fetch   func(context.Context) (grant, error)
	timeout time.Duration
	// lifetime is the endpoint's: a renewal serves attempts to come, so it
	// outlives the attempt that asked for it.
	lifetime context.Context //nolint:containedctx // the endpoint's own, not a caller's
	renewals sync.WaitGroup

	mu       sync.Mutex
	current  *token        // guarded by mu: nil: none, or refused
	renewing chan struct{} // guarded by mu: closed when the renewal ends, nil: none runs
	refused  bool          // guarded by mu: current took, or will take, the place of a refused one
	failure  error         // guarded by mu: of the last renewal
	wait     time.Duration // guarded by mu: the back-off after it
	retryAt  time.Time     // guarded by mu: when the next may begin
}

// grant is what a fetch brings.
type grant struct {
	// set puts it into a request.
	set func(p *parcel, now time.Time) error
	// life is how long it is good; 0: it does not say.
	life time.Duration
}

// bearer is the grant of a token that is sent as it is. What no header can carry
// is none.
func bearer(kind, token string, life time.Duration) (grant, error) {
	header := kind + " " + token
	if !isCarried([]byte(header)) || token == "" {
		return grant{}, errors.New("the server gave one that no header can carry")
	}
	set := func(p *parcel, _ time.Time) error {
		p.header["Authorization"] = []string{header}
		return nil
	}
	return grant{set, life}, nil
}

// token is one token.
type token struct {
	grant

	tokens *tokens
	begun  time.Time
	// renewAt and expires are zero if the token says nothing of its end.
	renewAt, expires time.Time
	// afterRefusal: it took the place of a token that was refused.
	afterRefusal bool
	// proven: it was not refused once.
	proven atomic.Bool
}

// noTokenError says that there is no token, and when it is worth asking again.
type noTokenError struct {
	err        error
	retryAfter time.Duration
}

func (e *noTokenError) Error() string { return "get a token: " + e.err.Error() }
func (e *noTokenError) Unwrap() error { return e.err }

var _ authenticator = (*tokens)(nil)

func (t *tokens) credentials(ctx context.Context) (credentials, error) {
	for waited := false; ; waited = true {
		current, renewing, err := t.take(time.Now(), waited)
		if current != nil {
			return current, nil
		}
		if err != nil {
			return nil, err
		}
		select {
		case <-renewing:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take is the token, or the renewal to wait for, or why there is none. Who has
// waited for a renewal that failed is told so, and does not wait for the next.
func (t *tokens) take(now time.Time, waited bool) (*token, <-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	usable := t.current != nil && (t.current.expires.IsZero() || now.Before(t.current.expires))
	due := !usable || !t.current.renewAt.IsZero() && !now.Before(t.current.renewAt)
	disappointed := waited && t.failure != nil
	if due && t.renewing == nil && !now.Before(t.retryAt) && !disappointed {
		t.renewLocked()
	}
	switch {
	case usable:
		return t.current, nil, nil
	case t.renewing != nil:
		return nil, t.renewing, nil
	default:
		return nil, nil, &noTokenError{t.failure, max(t.retryAt.Sub(now), 0)}
	}
}

// renewLocked begins a renewal.
func (t *tokens) renewLocked() {
	done := make(chan struct{})
	t.renewing = done
	t.renewals.Go(func() {
		ctx, cancel := context.WithTimeout(t.lifetime, t.timeout)
		defer cancel()
		fetched, err := t.fetch(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.endRenewalLocked(fetched, err)
		close(done)
	})
}

// endRenewalLocked takes note of how a renewal ended.
func (t *tokens) endRenewalLocked(fetched grant, err error) {
	now := time.Now()
	t.renewing, t.failure = nil, err
	if err != nil {
		t.wait = min(max(2*t.wait, minTokenWait), maxTokenWait)
		t.retryAt = now.Add(t.wait)
		return
	}
	t.wait, t.retryAt = 0, time.Time{}
	fresh := &token{grant: fetched, tokens: t, begun: now, afterRefusal: t.refused}
	t.refused = false
	// A token that is born old says nothing of its end: renewing it at once
	// would go on for ever.
	if fetched.life > 0 {
		fresh.expires = now.Add(fetched.life)
		fresh.renewAt = fresh.expires.Add(-min(maxRenewalMargin, fetched.life/4))
	}
	t.current = fresh
}

func (t *tokens) close() { t.renewals.Wait() }

func (a *token) set(p *parcel, now time.Time) error { return a.grant.set(p, now) }

// judged takes a refused token out of use. All attempts that it was refused to
// wait for the one renewal that takes its place.
func (a *token) judged(status int) (again bool) {
	if status != http.StatusUnauthorized {
		if !a.proven.Load() {
			a.proven.Store(true)
		}
		return false
	}
	t := a.tokens
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != a {
		return true // another one was told already
	}
	if a.afterRefusal && !a.proven.Load() && time.Since(a.begun) < unprovenPause {
		return false
	}
	t.current, t.refused = nil, true
	return true
}
