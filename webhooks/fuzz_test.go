package webhooks

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"testing"
)

// FuzzHeaders sends whatever is made of odd records to a real server: it is
// always accepted by the transport, the body arrives whole, and the connection
// serves the next request.
func FuzzHeaders(f *testing.F) {
	f.Add("", "", []byte(nil), []byte(nil), []byte("value"))
	f.Add("", "host", []byte("evil"), []byte("key"), []byte("value"))
	f.Add("", "content-length", []byte("3"), []byte(" "), []byte("value"))
	f.Add("", "transfer-encoding", []byte("chunked"), []byte{0}, []byte("value"))
	f.Add("content-", "length", []byte("3"), []byte("a\r\nb: c"), []byte(nil))
	f.Add("kafka-header-", "é", []byte("é"), []byte("é"), []byte(""))
	f.Add("x", "content-type", []byte("text/\x00"), []byte("k"), bytes.Repeat([]byte("v"), 10000))
	r := newReceiver(f)
	f.Fuzz(func(t *testing.T, prefix, name string, header, key, value []byte) {
		rules := ForwardRules{Include: []string{"*"}, Prefix: prefix}
		if rules.check() != nil {
			return // New refuses such a prefix
		}
		e := newEndpoint(t, r.URL, func(o *Options) { o.Forward, o.Dial = &rules, dialForAShortTime })
		m := message()
		m.Key, m.Value = key, value
		m.Headers = []Header{{name, header}, {"content-type", header}, {name, []byte("second")}}
		want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
		if got := r.last(t); !bytes.Equal(got.body, value) || got.err != nil {
			t.Errorf("%d bytes arrived of %d, %v", len(got.body), len(value), got.err)
		}
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
		got := r.requests()
		if got[len(got)-1].remote != got[len(got)-2].remote {
			t.Error("the connection was not used again")
		}
		r.forget()
	})
}

// dialForAShortTime makes connections that leave nothing behind: thousands of
// closed ones that the system remembers would leave no port for the next.
func dialForAShortTime(ctx context.Context, network, addr string) (net.Conn, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, network, addr)
	if tcp, ok := c.(*net.TCPConn); ok {
		err = tcp.SetLinger(0)
	}
	return c, err
}
