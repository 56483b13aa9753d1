package webhooks

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A body changes nothing but the fate of its connection.
func TestAnswerBodiesDecideNothing(t *testing.T) {
	for name, test := range map[string]struct {
		answer  string
		excerpt string
		reused  bool
	}{
		"none":             {"Content-Length: 0\r\n\r\n", "", true},
		"short":            {"Content-Length: 2\r\n\r\nok", "ok", true},
		"chunked":          {"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "ok", true},
		"breaks":           {"Content-Length: 10\r\n\r\nok", "ok", false},
		"broken chunks":    {"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "", false},
		"longer than read": {"Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 100000), strings.Repeat("x", maxExcerpt), false},
		"as long as read":  {"Content-Length: 65536\r\n\r\n" + strings.Repeat("x", maxBody), strings.Repeat("x", maxExcerpt), true},
		"no gzip":          {"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			url := serveTCP(t, func(c net.Conn, n int) {
				for range 2 {
					readRequest(c)
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"+test.answer)
					if !test.reused {
						return
					}
				}
			})
			e := newEndpoint(t, url, nil)
			for range 2 {
				result := post(t, e, message())
				want(t, result, Accept, ReasonOK, http.StatusOK)
				if string(result.Excerpt) != test.excerpt {
					t.Errorf("excerpt %.40q", result.Excerpt)
				}
			}
		})
	}
}

func TestAnswerWithoutEnd(t *testing.T) {
	for name, test := range map[string]func(http.ResponseWriter){
		"silent": func(http.ResponseWriter) {},
		"drips": func(w http.ResponseWriter) {
			for {
				if _, err := io.WriteString(w, "."); err != nil {
					return
				}
				if http.NewResponseController(w).Flush() != nil {
					return
				}
				pass(100 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := servePipe(t, func(w http.ResponseWriter, r *http.Request) {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
					test(w)
					<-r.Context().Done()
				})
				e := newEndpoint(t, "http://endpoint", viaPipe(network, nil))
				result := post(t, e, message())
				want(t, result, Accept, ReasonOK, http.StatusOK)
				if result.Elapsed > maxPatience {
					t.Errorf("the first body was waited for for %v", result.Elapsed)
				}
				// An endpoint that always does it is not waited for any more.
				var waited time.Duration
				for range 160 {
					waited += post(t, e, message()).Elapsed
				}
				if average := waited / 160; average > maxPatience/4 {
					t.Errorf("bodies were waited for for %v on average", average)
				}
			})
		})
	}
}

func TestPatience(t *testing.T) {
	var p patience
	if p.left() != maxPatience {
		t.Errorf("at first %v", p.left())
	}
	for range 20 {
		p.learn(errTimeout)
	}
	short := 0
	for range 1000 {
		switch p.left() {
		case minPatience:
			short++
		case maxPatience:
		default:
			t.Fatalf("after failures %v", p.left())
		}
	}
	if short < 800 || short == 1000 {
		t.Errorf("%d of 1000 bodies are hardly waited for; the others tell whether that is still right", short)
	}
	p.learn(io.EOF)
	if p.left() != maxPatience {
		t.Errorf("after a body that ended %v", p.left())
	}
}

// The header just in time, the body after the timeout: an answer is an answer.
func TestAnswerAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := servePipe(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			pass(9900 * time.Millisecond)
			w.WriteHeader(http.StatusBadRequest)
			_ = http.NewResponseController(w).Flush()
			pass(300 * time.Millisecond)
			_, _ = io.WriteString(w, "no such order")
		})
		e := newEndpoint(t, "http://endpoint", viaPipe(network, nil))
		result := post(t, e, message())
		want(t, result, Reject, ReasonStatus4xx, http.StatusBadRequest)
		if string(result.Excerpt) != "no such order" {
			t.Errorf("excerpt %q", result.Excerpt)
		}
	})
}

func TestAnswerCompressed(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusBadRequest)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "no such order")
		_ = z.Close()
	})
	result := post(t, newEndpoint(t, url, nil), message())
	if string(result.Excerpt) != "no such order" {
		t.Errorf("excerpt %q", result.Excerpt)
	}
}

// 2 GiB of zeros in 2 MiB: read up to the bound, with the memory of the bound.
func TestAnswerBomb(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for zeros, i := make([]byte, 1<<20), 0; i < 2<<10; i++ {
			if _, err := z.Write(zeros); err != nil {
				return // the client has gone
			}
		}
	})
	e := newEndpoint(t, url, nil)
	if grown := allocated(func() { want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK) }); grown > 16<<20 {
		t.Errorf("%d MiB allocated", grown>>20)
	}
}

// 8 MiB of header: the status comes first and decides.
func TestAnswerHugeHeader(t *testing.T) {
	for _, test := range []struct {
		status  string
		verdict Verdict
		reason  Reason
		code    int
	}{
		{"200 OK", Accept, ReasonOK, 200},
		{"400 Bad Request", Reject, ReasonStatus4xx, 400},
		{"503 Service Unavailable", Release, ReasonStatus5xx, 503},
		{"600 What", Release, ReasonProtocol, 0},
	} {
		line := "X-Filler: " + strings.Repeat("x", 1000) + "\r\n"
		url := serveTCP(t, func(c net.Conn, _ int) {
			readRequest(c)
			_, _ = io.WriteString(c, "HTTP/1.1 "+test.status+"\r\n")
			for range 8 << 10 {
				if _, err := io.WriteString(c, line); err != nil {
					return
				}
			}
			_, _ = io.WriteString(c, "Content-Length: 0\r\n\r\n")
		})
		e := newEndpoint(t, url, nil)
		if grown := allocated(func() { want(t, post(t, e, message()), test.verdict, test.reason, test.code) }); grown > 8<<20 {
			t.Errorf("%d MiB allocated", grown>>20)
		}
	}
}

// allocated is how many bytes f allocates, with all that runs meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Excerpts are copies: the buffers that they are read into are used again.
func TestAnswerExcerptsAreTheirOwn(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	e := newEndpoint(t, url, nil)
	var results []Result
	for i := range 10 {
		m := message()
		m.Value = bytes.Repeat([]byte{byte('a' + i)}, 100)
		results = append(results, post(t, e, m))
	}
	for i, result := range results {
		if string(result.Excerpt) != strings.Repeat(string(rune('a'+i)), 100) {
			t.Errorf("excerpt %d: %q", i, result.Excerpt)
		}
	}
}
