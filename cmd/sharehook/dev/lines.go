package dev

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

// lines prints one line for each delivery. A reader that does not keep up
// misses lines: deliveries do not wait for a terminal.
type lines struct {
	w      io.Writer
	colour bool
	format format

	queue  chan gateway.Delivery
	missed atomic.Int64
	once   sync.Once
	ended  chan struct{}
}

// queueLength is how many deliveries may wait to be printed.
const queueLength = 4096

func newLines(w io.Writer, colour bool, endpoints []config.Endpoint, topics []string) *lines {
	l := &lines{
		w: w, colour: colour, format: newFormat(endpoints, topics),
		queue: make(chan gateway.Delivery, queueLength), ended: make(chan struct{}),
	}
	go l.print()
	return l
}

// delivered hands a delivery to the printer.
func (l *lines) delivered(d gateway.Delivery) {
	select {
	case l.queue <- d:
	default:
		l.missed.Add(1)
	}
}

// close prints what waits. No delivery may come after it.
func (l *lines) close() {
	l.once.Do(func() { close(l.queue) })
	<-l.ended
}

func (l *lines) print() {
	defer close(l.ended)
	begun := false
	for d := range l.queue {
		if !begun {
			begun = true
			l.write(l.paint(dim, l.format.header()))
		}
		text := l.format.line(d)
		if n := l.missed.Swap(0); n > 0 {
			text += fmt.Sprintf("\n(%d deliveries are not shown: they came faster than they could be printed)", n)
		}
		l.write(l.paint(colourOf(d), text))
	}
}

// write leaves errors alone: a reader who went away is no reason to end.
func (l *lines) write(text string) { _, _ = io.WriteString(l.w, text+"\n") }

// colour is a terminal's (ECMA-48, SGR).
type colour string

const (
	plain  colour = ""
	dim    colour = "2"
	green  colour = "32"
	yellow colour = "33"
	red    colour = "31"
)

func (l *lines) paint(c colour, text string) string {
	if !l.colour || c == plain {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func colourOf(d gateway.Delivery) colour {
	switch {
	case d.DeadLetter != "" || d.Err != nil || d.Lapsed || d.Acknowledgement == "reject":
		return red
	case d.Acknowledgement == "release":
		return yellow
	case d.Acknowledgement == "accept":
		return green
	default:
		return plain
	}
}

// format aligns the columns.
type format struct {
	endpoint int // width; 0: there is only one
	record   int
	letters  map[string]bool // endpoints whose dead letters the gateway writes
}

const (
	keyWidth    = 16
	offsetWidth = len("/0/00000")
)

func newFormat(endpoints []config.Endpoint, topics []string) format {
	f := format{record: len("RECORD"), letters: make(map[string]bool)}
	for _, e := range endpoints {
		if len(endpoints) > 1 {
			f.endpoint = max(f.endpoint, len("ENDPOINT"), len(e.Name))
		}
		f.letters[e.Name] = e.DeadLetter.By == config.DeadLetterByGateway
	}
	for _, t := range topics {
		f.record = max(f.record, len(t)+offsetWidth)
	}
	return f
}

func (f format) header() string {
	return f.row("ENDPOINT", "RECORD", "KEY", "DELIVERY", "ATTEMPTS", "STATUS", "ACKNOWLEDGED", "REASON", "ELAPSED", "")
}

func (f format) row(endpoint, record, key, delivery, attempts, status, acknowledged, reason, elapsed, note string) string {
	text := fmt.Sprintf("%-*s  %-*s  %8s  %8s  %6s  %-12s  %-10s  %7s", f.record, record, keyWidth, key,
		delivery, attempts, status, acknowledged, reason, elapsed)
	if f.endpoint > 0 {
		text = fmt.Sprintf("%-*s  ", f.endpoint, endpoint) + text
	}
	if note != "" {
		text += "  " + note
	}
	return text
}

func (f format) line(d gateway.Delivery) string {
	status := "-"
	if d.Status != 0 {
		status = strconv.Itoa(d.Status)
	}
	acknowledged := d.Acknowledgement
	switch {
	case d.Interrupted:
		acknowledged = "given back"
	case d.Lapsed:
		acknowledged = "lapsed"
	}
	return f.row(d.Endpoint, fmt.Sprintf("%s/%d/%d", d.Topic, d.Partition, d.Offset), keyText(d.Key),
		strconv.Itoa(int(d.DeliveryCount)), strconv.Itoa(d.Attempts), status, acknowledged, d.Reason,
		d.Elapsed.Round(time.Millisecond).String(), f.note(d))
}

// note is what makes a delivery special.
func (f format) note(d gateway.Delivery) string {
	switch {
	case d.Err != nil:
		return "not confirmed: " + d.Err.Error()
	case d.DeadLetter != "" && f.letters[d.Endpoint]:
		return "dead letter"
	case d.DeadLetter != "":
		return "dropped"
	case d.Acknowledgement == "release":
		return "comes again"
	default:
		return ""
	}
}

// keyText is a key as a terminal may show it.
func keyText(key []byte) string {
	if key == nil {
		return "-"
	}
	text := string(key)
	if !utf8.Valid(key) {
		text = fmt.Sprintf("%x", key)
	}
	// Escapes what would move the cursor.
	text = strings.Trim(strconv.QuoteToGraphic(text), `"`)
	if utf8.RuneCountInString(text) > keyWidth {
		text = string([]rune(text)[:keyWidth-1]) + "…"
	}
	return text
}
