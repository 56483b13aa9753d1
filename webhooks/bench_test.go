package webhooks

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
)

// serveBare answers each request with 200 and nothing else, and allocates next
// to nothing, so that the benchmarks measure the sending side.
func serveBare(b *testing.B) string {
	return serveTCP(b, func(c net.Conn, _ int) {
		const size = 1 << 10
		in := bufio.NewReader(c)
		answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		for {
			for {
				line, err := in.ReadSlice('\n')
				if err != nil {
					return
				}
				if len(line) == len("\r\n") {
					break
				}
			}
			if _, err := in.Discard(size); err != nil {
				return
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	})
}

func benchMessage() *Message {
	m := message()
	m.Value = bytes.Repeat([]byte("v"), 1<<10)
	m.Headers = []Header{{"tenant", []byte("7")}, {"trace", []byte("abc")}}
	return m
}

func BenchmarkAttempt(b *testing.B) {
	e := newEndpoint(b, serveBare(b), nil)
	m := benchMessage()
	b.ReportAllocs()
	for b.Loop() {
		if result := e.Attempt(b.Context(), m, Attempt{Number: 1}); result.Verdict != Accept {
			b.Fatalf("%+v", result)
		}
	}
}

// BenchmarkBareClient is the floor: an http.Client that sends no header but its
// own, or the very headers of an attempt.
func BenchmarkBareClient(b *testing.B) {
	e := newEndpoint(b, "http://localhost", nil)
	same, err := e.pack(benchMessage(), Attempt{Number: 1}, someDay)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("own headers", func(b *testing.B) { benchmarkBareClient(b, http.Header{}) })
	b.Run("same headers", func(b *testing.B) { benchmarkBareClient(b, same.header) })
}

func benchmarkBareClient(b *testing.B, header http.Header) {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	url := serveBare(b)
	value := benchMessage().Value
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(value))
		if err != nil {
			b.Fatal(err)
		}
		r.Header = header
		answer, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
}

func BenchmarkPack(b *testing.B) {
	e := newEndpoint(b, "http://localhost", nil)
	m := benchMessage()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.pack(m, Attempt{Number: 1}, someDay); err != nil {
			b.Fatal(err)
		}
	}
}
