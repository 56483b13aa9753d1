package webhooks

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
)

// serveBare answers each request with 200 and nothing else, and allocates next
// to nothing, so that the benchmarks measure the sending side.
func serveBare(b *testing.B) string {
	return serveTCP(b, func(c net.Conn, _ int) {
		in := bufio.NewReader(c)
		answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		for {
			size := 0
			for {
				line, err := in.ReadSlice('\n')
				if err != nil {
					return
				}
				if length, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
					size, _ = strconv.Atoi(string(bytes.TrimSpace(length)))
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

// BenchmarkFormats compares the formats, signed as Standard Webhooks v1, with raw
// and unsigned. The value is JSON, of 1 KiB.
func BenchmarkFormats(b *testing.B) {
	m := benchMessage()
	m.Value = jsonValue()
	for _, test := range []struct {
		name    string
		format  Format
		secrets []string
	}{
		{"raw unsigned", FormatRaw, nil},
		{"raw signed", FormatRaw, []string{newSecret}},
		{"json signed", FormatJSON, []string{newSecret}},
		{"binary signed", FormatCloudEventsBinary, []string{newSecret}},
		{"structured signed", FormatCloudEventsStructured, []string{newSecret}},
	} {
		b.Run(test.name, func(b *testing.B) {
			e := newEndpoint(b, serveBare(b), func(o *Options) { o.Format, o.SigningSecrets = test.format, test.secrets })
			b.ReportAllocs()
			for b.Loop() {
				if result := e.Attempt(b.Context(), m, Attempt{Number: 1}); result.Verdict != Accept {
					b.Fatalf("%+v", result)
				}
			}
		})
	}
}

// jsonValue is an ordinary document.
func jsonValue() []byte {
	const size = 1 << 10
	value := []byte(`{"order":1,"customer":"customer-8","lines":[`)
	for len(value) < size-80 {
		value = append(value, `{"sku":"A-12345","quantity":3,"price":"39.90","note":"größe"},`...)
	}
	value = append(value, `{"note":"`...)
	value = append(value, bytes.Repeat([]byte("n"), size-len(value)-4)...)
	return append(value, `"}]}`...)
}
