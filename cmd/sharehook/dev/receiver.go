package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// receiver is an HTTP endpoint for the sample. It keeps nothing: what it
// answers follows from the order and from the attempt's headers, so that
// what it does not take at first it takes later.
type receiver struct {
	server *http.Server
	addr   string
	served chan struct{} // closed when the server has ended
}

const (
	// One order in so many is not taken at the first attempt.
	flakyEvery, flakyAt = 12, 5
	// And one in so many not at any attempt of its first delivery.
	stubbornEvery, stubbornAt = 25, 18
)

// startReceiver listens on a free loopback port.
func startReceiver(ctx context.Context) (*receiver, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the sample receiver: %w", err)
	}
	r := &receiver{
		server: &http.Server{
			Handler:           http.HandlerFunc(receive),
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		},
		addr:   ln.Addr().String(),
		served: make(chan struct{}),
	}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(ln) // ends with close
	}()
	return r, nil
}

// close ends the server and all its connections.
func (r *receiver) close() {
	_ = r.server.Close()
	<-r.served
}

// receive answers one attempt.
func receive(w http.ResponseWriter, req *http.Request) {
	o, err := readOrder(req.Body)
	if err != nil {
		answer(w, http.StatusBadRequest, err.Error())
		return
	}
	work := time.NewTimer(time.Duration(o.Order%7) * 5 * time.Millisecond)
	defer work.Stop()
	select {
	case <-work.C:
	case <-req.Context().Done():
		return
	}
	first := req.Header.Get("Sharehook-Delivery") == "1"
	switch {
	case o.Items == 0:
		answer(w, http.StatusBadRequest, "an order needs at least one item")
	case first && o.Order%stubbornEvery == stubbornAt:
		answer(w, http.StatusServiceUnavailable, "the warehouse is closed; try again later")
	case first && o.Order%flakyEvery == flakyAt && req.Header.Get("Sharehook-Attempt") == "1":
		answer(w, http.StatusServiceUnavailable, "the warehouse is busy; try again")
	default:
		answer(w, http.StatusOK, "thank you")
	}
}

// errNoOrder is what a sender of other things is told.
var errNoOrder = errors.New("this is no order")

func readOrder(body io.Reader) (order, error) {
	var o order
	if err := json.NewDecoder(io.LimitReader(body, 1<<20)).Decode(&o); err != nil {
		return o, errNoOrder
	}
	return o, nil
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}
