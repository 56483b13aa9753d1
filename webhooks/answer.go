package webhooks

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxBody is how much of an answer's body is read, after decompression. A
	// body that ends within it leaves a connection that can be used again.
	maxBody = 64 << 10
	// maxExcerpt is how much of it is kept.
	maxExcerpt = 2 << 10
	// maxPatience is how long a body is waited for after its header.
	maxPatience = 500 * time.Millisecond
	minPatience = 5 * time.Millisecond
	// patienceTrial: one in so many bodies is given the whole time.
	patienceTrial = 16
)

// excerpts are buffers for the beginnings of bodies, of which mostly a few
// bytes are used.
var excerpts = sync.Pool{New: func() any { return new([maxExcerpt]byte) }}

// readBody reads the body of an answer as far as it is read, and returns its
// beginning. The connection can be used again only if that was all of it.
func (e *Endpoint) readBody(answer *http.Response) []byte {
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusSwitchingProtocols {
		// No body but a connection that now speaks something else.
		return nil
	}
	if answer.ContentLength == 0 || answer.Body == http.NoBody {
		return nil
	}
	body, err := decompressed(answer)
	if err != nil {
		return nil
	}
	buffer, _ := excerpts.Get().(*[maxExcerpt]byte)
	defer excerpts.Put(buffer)
	n, err := io.ReadFull(body, buffer[:])
	excerpt := bytes.Clone(buffer[:n])
	for read := n; err == nil && read < maxBody; read += n {
		n, err = body.Read(buffer[:])
	}
	e.patience.learn(err)
	return excerpt
}

// decompressed is the body as the endpoint meant it. We ask for no compression;
// some endpoints compress all the same.
func decompressed(answer *http.Response) (io.Reader, error) {
	if !strings.EqualFold(answer.Header.Get("Content-Encoding"), "gzip") {
		return answer.Body, nil
	}
	return gzip.NewReader(answer.Body)
}

// patience is how long bodies of an endpoint's answers are waited for. A body
// that drips or never ends holds its slot for that long, for nothing: an endpoint
// that always does it is soon hardly waited for any more, its connections being
// closed instead; one whose body ended is given the whole time again.
type patience struct {
	// lost is how much of maxPatience is lost, in nanoseconds.
	lost atomic.Int64
}

func (p *patience) left() time.Duration {
	lost := p.lost.Load()
	if lost != 0 && rand.N(patienceTrial) == 0 {
		// Now and then the whole time, to find out whether bodies end again.
		return maxPatience
	}
	return maxPatience - time.Duration(lost)
}

// learn takes note of how the reading of a body ended.
func (p *patience) learn(err error) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p.lost.Store(0)
	case err != nil:
		left := maxPatience - time.Duration(p.lost.Load())
		// Concurrent notes may be lost: it is a rule of thumb.
		p.lost.Store(int64(maxPatience - max(left/2, minPatience)))
	}
}
