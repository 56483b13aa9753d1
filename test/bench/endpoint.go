package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Where the endpoint process takes records, and what it is told and asked by
// the one that measures.
const (
	pathHook   = "/hook"
	pathBegin  = "/begin"  // ?records=N&profile=NAME: a new run
	pathWatch  = "/watch"  // ?pids=N,N: sample these processes
	pathStatus = "/status" // how many records have come
	pathReport = "/report"
)

// status is what may be asked often.
type status struct{ Distinct, Answered int }

// endpoint is the process that records are pushed to. It is built on fasthttp,
// since net/http is too dear for a neighbour of what is measured.
type endpoint struct{ ledger atomic.Pointer[ledger] }

// serveEndpoint is the endpoint process. It prints its address.
func serveEndpoint() error {
	// Rare collections, for the same reason.
	debug.SetGCPercent(400)
	var e endpoint
	e.ledger.Store(newLedger(0, instant))
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, listener.Addr())
	server := &fasthttp.Server{
		Handler:               e.handle,
		NoDefaultServerHeader: true,
		NoDefaultDate:         true,
		NoDefaultContentType:  true,
	}
	return server.Serve(listener)
}

func (e *endpoint) handle(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case pathHook:
		e.hook(ctx)
	case pathBegin:
		e.begin(ctx)
	case pathWatch:
		e.watch(ctx)
	case pathStatus:
		l := e.ledger.Load()
		l.mu.Lock()
		s := status{l.distinct, l.answered}
		l.mu.Unlock()
		answerJSON(ctx, s)
	case pathReport:
		answerJSON(ctx, e.ledger.Load().report())
	default:
		ctx.SetStatusCode(fasthttp.StatusNotFound)
	}
}

// hook takes a record.
func (e *endpoint) hook(ctx *fasthttp.RequestCtx) {
	l := e.ledger.Load()
	wait, first := l.arrive(ctx.Request.Header.Peek("Webhook-Id"), ctx.PostBody(), time.Now())
	if wait > 0 {
		<-time.After(wait)
	}
	if first {
		l.answer()
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// begin opens a new ledger. What still comes of an older run is foreign to it
// or counts as a duplicate, so a run begins when the one before has ended.
func (e *endpoint) begin(ctx *fasthttp.RequestCtx) {
	records, err := ctx.QueryArgs().GetUint("records")
	p, ok := profileOf(string(ctx.QueryArgs().Peek("profile")))
	if err != nil || !ok {
		ctx.SetStatusCode(fasthttp.StatusBadRequest)
		return
	}
	e.ledger.Store(newLedger(records, p))
}

func (e *endpoint) watch(ctx *fasthttp.RequestCtx) {
	var pids []int
	for field := range strings.SplitSeq(string(ctx.QueryArgs().Peek("pids")), ",") {
		pid, err := strconv.Atoi(field)
		if err != nil {
			ctx.SetStatusCode(fasthttp.StatusBadRequest)
			return
		}
		pids = append(pids, pid)
	}
	e.ledger.Load().watch(pids)
}

func answerJSON(ctx *fasthttp.RequestCtx, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		ctx.SetStatusCode(fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetBody(body)
}
