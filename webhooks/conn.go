package webhooks

import (
	"errors"
	"net"
	"strconv"
	"sync"
	"time"
)

// connSet is the connections that are open, so that Close ends also those that
// net/http does not count as idle: still being dialled, or in use.
type connSet struct {
	mu     sync.Mutex
	conns  map[*trackedConn]struct{} // guarded by mu
	closed bool                      // guarded by mu
}

// add takes a connection into the set, or closes it if the set is closed.
func (s *connSet) add(c net.Conn) (net.Conn, error) {
	tracked := &trackedConn{Conn: c, set: s}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		if s.conns == nil {
			s.conns = map[*trackedConn]struct{}{}
		}
		s.conns[tracked] = struct{}{}
	}
	s.mu.Unlock()
	if closed {
		_ = c.Close()
		return nil, errClosed
	}
	return tracked, nil
}

func (s *connSet) remove(c *trackedConn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// closeAll closes all connections and those that come later.
func (s *connSet) closeAll() {
	s.mu.Lock()
	conns := s.conns
	s.conns, s.closed = nil, true
	s.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}

// trackedConn leaves its set when it is closed.
type trackedConn struct {
	net.Conn
	set *connSet
}

func (c *trackedConn) Close() error {
	c.set.remove(c)
	return c.Conn.Close()
}

// lateAnswer is how long a failed write waits for an answer that explains it.
const lateAnswer = 250 * time.Millisecond

// statusLineLen is the length of "HTTP/1.1 200".
const statusLineLen = 12

// answerConn is an HTTP/1.1 connection that knows what net/http does not tell:
// how much of an answer has come, and with what status it began, when no whole
// answer came of it.
type answerConn struct {
	net.Conn
	closed    chan struct{}
	closeOnce sync.Once

	mu       sync.Mutex
	received int                 // guarded by mu: bytes since begin
	line     [statusLineLen]byte // guarded by mu: the first of them
	readErr  error               // guarded by mu: why nothing comes any more
}

func newAnswerConn(c net.Conn) *answerConn {
	return &answerConn{Conn: c, closed: make(chan struct{})}
}

// begin forgets the answer before, as a new request takes the connection.
func (c *answerConn) begin() {
	c.mu.Lock()
	c.received = 0
	c.mu.Unlock()
}

// answered says how many bytes of an answer have come, and its status, 0 if
// they do not begin like one.
func (c *answerConn) answered() (bytes, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := string(c.line[:min(c.received, statusLineLen)])
	if len(line) < statusLineLen || line[:7] != "HTTP/1." || line[8] != ' ' {
		return c.received, 0
	}
	status, err := strconv.Atoi(line[9:])
	if err != nil {
		return c.received, 0
	}
	return c.received, status
}

func (c *answerConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.received < statusLineLen {
		copy(c.line[c.received:], p[:n])
	}
	c.received += n
	if c.readErr == nil {
		c.readErr = err
	}
	return n, err
}

// readError is why the connection ended, as its reader saw it; nil as long as
// it has not.
func (c *answerConn) readError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readErr
}

// Write is the connection's, but a failed write is reported late. An endpoint
// may answer in the middle of a large body and close: net/http would let the
// broken write win over the answer that lies there to be read, and a record that
// is too large would be tried for ever instead of being rejected with 413. The
// transport closes the connection as soon as it has read the answer, or why
// there is none, so the wait is short.
func (c *answerConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		timer := time.NewTimer(lateAnswer)
		defer timer.Stop()
		select {
		case <-c.closed:
		case <-timer.C:
		}
	}
	return n, err
}

func (c *answerConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
