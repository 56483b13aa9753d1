package rig

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTry(t *testing.T) {
	var order []string
	err := Try(t.Context(), nil, func(tb testing.TB) {
		tb.Cleanup(func() { order = append(order, "first") })
		tb.Cleanup(func() {
			order = append(order, "second")
			tb.Fatal("in a cleanup")
		})
		tb.Error("one")
		if !tb.Failed() {
			t.Error("it has not failed")
		}
		tb.Fatalf("two %d", 2)
		t.Error("it went on")
	})
	if err == nil || err.Error() != "one\ntwo 2\nin a cleanup" {
		t.Errorf("the error is %v", err)
	}
	if !slices.Equal(order, []string{"second", "first"}) {
		t.Errorf("cleanups ran as %v", order)
	}
	if err := Try(t.Context(), nil, func(testing.TB) {}); err != nil {
		t.Errorf("nothing failed: %v", err)
	}
}

func TestTryLetsPanicsThrough(t *testing.T) {
	cleaned := false
	defer func() {
		if recover() != "not ours" || !cleaned {
			t.Errorf("cleaned up: %v", cleaned)
		}
	}()
	_ = Try(t.Context(), nil, func(tb testing.TB) {
		tb.Cleanup(func() { cleaned = true })
		panic("not ours")
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	err := Try(ctx, nil, func(tb testing.TB) { Wait(tb, time.Hour, "nothing", func() bool { return false }) })
	if err == nil || !strings.Contains(err.Error(), "enough while waiting for nothing") {
		t.Errorf("the error is %v", err)
	}
	if err := Try(ctx, nil, func(tb testing.TB) { Pass(tb, time.Hour) }); err == nil {
		t.Error("time passes after the end")
	}
}

func TestProcess(t *testing.T) {
	p := Start(t, "a process", []string{"WORD=said"}, "sh", "-c", `echo "$WORD"; echo '{"msg":"delivery.acknowledged"}'; exec sleep 60`)
	Wait(t, ReadyWait, "it to write", func() bool { return strings.Contains(p.Text(), "delivery") })
	if p.Ended() || p.Tail() != "said\n" {
		t.Errorf("ended: %v, tail %q", p.Ended(), p.Tail())
	}
	p.Signal(syscall.SIGTERM)
	if code := p.Exit(ReadyWait); code != -1 || !p.Ended() {
		t.Errorf("exit code %d after a signal", code)
	}
	p.Kill() // harmless
}

func TestHookGoesAwayAndComesBack(t *testing.T) {
	h := NewHook(t, Always(http.StatusTeapot, 0))
	post := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL(), strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("webhook-id", "one")
		req.Header.Set("sharehook-delivery", "2")
		resp, err := client.Do(req)
		if err != nil {
			return 0
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := post(); got != http.StatusTeapot {
		t.Errorf("answered %d", got)
	}
	h.Leave()
	if got := post(); got != 0 {
		t.Errorf("answered %d while away", got)
	}
	h.Play(Always(http.StatusOK, 0))
	h.Return()
	if got := post(); got != http.StatusOK {
		t.Errorf("answered %d when back", got)
	}
	posts := h.Posts()
	if len(posts) != 2 || posts[1].Nth != 2 || posts[1].Delivery != 2 || posts[1].Attempt != -1 || !Accepted(&posts[1]) || UnderWay(&posts[0]) {
		t.Errorf("posts are %+v", posts)
	}
}

func TestDuplicates(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	answered := func(status, from, to int) Post { return Post{ID: "r", At: at(from), Answered: at(to), Status: status} }
	for name, c := range map[string]struct {
		posts  []Post
		cuts   bool
		repeat int
	}{
		"once":                {posts: []Post{answered(200, 1, 2)}},
		"after a failure":     {posts: []Post{answered(503, 1, 2), answered(200, 3, 4)}},
		"after an acceptance": {posts: []Post{answered(200, 1, 2), answered(200, 3, 4)}, repeat: 1},
		"before the answer":   {posts: []Post{answered(503, 1, 5), answered(200, 3, 4)}, repeat: 1},
		"without an answer":   {posts: []Post{{ID: "r", At: at(1)}, answered(200, 3, 4)}, repeat: 1},
		"broken off":          {posts: []Post{{ID: "r", At: at(1), Cut: at(2)}, answered(200, 3, 4)}, repeat: 1},
		"broken off, and so":  {posts: []Post{{ID: "r", At: at(1), Cut: at(2)}, answered(200, 3, 4)}, cuts: true},
		"of another record":   {posts: []Post{{ID: "s", At: at(1)}, answered(200, 3, 4)}},
	} {
		if got := len((Ledger{CutsAsk: c.cuts}).duplicates(c.posts)); got != c.repeat {
			t.Errorf("%s: %d duplicates, want %d", name, got, c.repeat)
		}
	}
}

func TestSum(t *testing.T) {
	page := []byte("a_total{endpoint=\"x\",by=\"y\"} 2\na_total{endpoint=\"z\"} 3\na_total_more 7\nb 1.5\nb_ratio NaN\n")
	for _, c := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"a_total", nil, 5},
		{"a_total", []string{"endpoint", "x"}, 2},
		{"b", nil, 1.5},
		{"b_ratio", nil, 0},
		{"c", nil, 0},
	} {
		if got := sum(page, c.name, c.labels); got != c.want {
			t.Errorf("%s %v: %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}
