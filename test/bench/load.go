package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

// load is a backlog that is worked off with so many POSTs in flight.
type load struct {
	window  int
	profile profile
	bound   target // percent of the rate that window and answer times permit
	cpu     target // CPU time as a multiple of the floor's
}

func (l load) name() string { return fmt.Sprintf("%d/%s", l.window, l.profile.name) }

// instantRate is about what two cores reach where the endpoint does not limit.
const instantRate = 15_000

// limit is the rate that cannot be exceeded: W divided by the mean answer
// time. 0: there is none.
func (l load) limit() float64 {
	if mean := l.profile.mean(); mean > 0 {
		return float64(l.window) / mean.Seconds()
	}
	return 0
}

// longWaits is how many of the longest waits a run lasts at least. All slots
// are free at its beginning, and a run that ends before slow records have
// taken their share of them flatters.
const longWaits = 5

// records is the size of a backlog that lasts about so long.
func (l load) records(lasts time.Duration) int {
	lasts = max(lasts, longWaits*l.profile.longest())
	rate := l.limit()
	if rate == 0 {
		rate = instantRate
	}
	return backlog(rate * lasts.Seconds())
}

// worked is what one process made of a backlog.
type worked struct {
	rate       float64 // records a second
	cpu        float64 // us a record, of the process
	broker     float64 // us a record, of the broker
	peak       float64 // MiB
	others     float64 // cores that were busy with something else
	duplicates int
	lost       int
	notes      []string
}

func (l load) run(ctx context.Context, b *bed) ([]figure, error) {
	floor, err := l.work(ctx, b, l.startFloor)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	progress("  floor: %s", floor)
	ours, err := l.work(ctx, b, l.startGateway)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	progress("  gateway: %s", ours)
	figures := []figure{
		{measure: "rate", unit: "rec/s", gateway: ours.rate, floor: floor.rate},
		{measure: "CPU", unit: "us/rec", gateway: ours.cpu, floor: floor.cpu, ratioGoal: l.cpu},
		{measure: "CPU of the broker", unit: "us/rec", gateway: ours.broker, floor: floor.broker},
		{measure: "peak RSS", unit: "MiB", gateway: ours.peak, floor: floor.peak, goal: memoryGoal},
		{measure: "load by others", unit: "cores", gateway: ours.others, floor: floor.others, noRatio: true},
		{measure: "duplicates", unit: "records", gateway: float64(ours.duplicates), floor: float64(floor.duplicates), worst: true},
		{measure: lostMeasure, unit: "records", gateway: float64(ours.lost), floor: float64(floor.lost), goal: noLoss, worst: true, notes: ours.notes},
	}
	if limit := l.limit(); limit > 0 {
		share := figure{measure: "share of W/mean", unit: "%", gateway: 100 * ours.rate / limit, floor: 100 * floor.rate / limit, goal: l.bound}
		figures = append(figures[:1], append([]figure{share}, figures[1:]...)...)
	}
	return figures, nil
}

func (w worked) String() string {
	s := fmt.Sprintf("%.0f rec/s, %.1f us/rec, broker %.1f us/rec, peak %.0f MiB, %d duplicates, %d lost, others %.2f cores",
		w.rate, w.cpu, w.broker, w.peak, w.duplicates, w.lost, w.others)
	return strings.Join(append([]string{s}, w.notes...), "; ")
}

// worker is a process that takes records from a topic to the endpoint.
type worker struct {
	child *child
	// finish, when all were answered, waits for what is still to be done and
	// says what was odd. It may be nil.
	finish func(context.Context) ([]string, error)
	// drains: the process ends by itself on SIGTERM, and well.
	drains bool
}

type starter func(ctx context.Context, b *bed, topic string) (worker, error)

func (l load) startFloor(_ context.Context, b *bed, topic string) (worker, error) {
	c, err := b.startFloor(topic, l.window)
	return worker{child: c}, err
}

// startFloor starts a floor process.
func (b *bed) startFloor(topic string, workers int) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startChild("the floor", nil, self, roleFloor, "-seeds", strings.Join(b.kafka.Seeds, ","),
		"-topic", topic, "-url", b.endpoint.hook(), "-workers", strconv.Itoa(workers))
}

func (l load) startGateway(ctx context.Context, b *bed, topic string) (worker, error) {
	r := newRoute(topic)
	g, err := b.startGateway(ctx, l.window, r)
	if err != nil {
		return worker{}, err
	}
	finish := func(ctx context.Context) ([]string, error) {
		lag, err := b.awaitLag(ctx, r.group(), topic)
		if err != nil {
			return nil, err
		}
		m, err := g.metrics(ctx)
		odd := m.oddities()
		if lag != 0 {
			odd = append(odd, fmt.Sprintf("the group's lag stays at %d", lag))
		}
		return odd, err
	}
	return worker{child: g.child, finish: finish, drains: true}, nil
}

// newRoute is a route with a group that nobody has used.
func newRoute(topic string) route {
	return route{name: strings.ReplaceAll(kafka.Name("bench"), ".", "-"), topic: topic}
}

// work produces a backlog and has a process work it off.
func (l load) work(ctx context.Context, b *bed, start starter) (w worked, err error) {
	records := l.records(b.options.time)
	topic, remove, err := b.createTopic()
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := b.produce(ctx, topic, records); err != nil {
		return w, err
	}
	if err := b.endpoint.begin(ctx, records, l.profile); err != nil {
		return w, err
	}
	p, err := start(ctx, b, topic)
	if err != nil {
		return w, err
	}
	defer func() {
		if end := p.child.stop(); p.drains && end != nil {
			err = errors.Join(err, fmt.Errorf("%s ended badly: %w", p.child.name, end))
		}
	}()
	if err := b.endpoint.watch(ctx, p.child.pid(), b.broker); err != nil {
		return w, err
	}
	all, err := b.endpoint.awaitAnswered(ctx, records, p.child)
	if err != nil {
		return w, err
	}
	if !all {
		w.notes = append(w.notes, fmt.Sprintf("stalled for %s; it said last:\n%s", stalled, p.child.log.String()))
	}
	if p.finish != nil {
		odd, err := p.finish(ctx)
		if err != nil {
			return w, err
		}
		w.notes = append(w.notes, odd...)
	}
	r, err := b.endpoint.report(ctx)
	if err != nil {
		return w, err
	}
	m, err := memoryOf(p.child.pid())
	if err != nil {
		return w, err
	}
	w.read(r, records, p.child.pid(), b.broker)
	w.peak = mib(m.peak)
	return w, nil
}

// read takes the figures out of the endpoint's report.
func (w *worked) read(r report, records, process, broker int) {
	w.duplicates, w.lost = r.Duplicates, records-r.Distinct
	if r.IDs != r.Distinct {
		w.notes = append(w.notes, fmt.Sprintf("%d records came under %d ids", r.Distinct, r.IDs))
	}
	if r.Foreign > 0 {
		w.notes = append(w.notes, fmt.Sprintf("%d POSTs were none of ours", r.Foreign))
	}
	n := float64(r.To.Answered - r.From.Answered)
	if n <= 0 {
		return // it stalled before
	}
	seconds := r.To.At.Sub(r.From.At).Seconds()
	w.rate = n / seconds
	w.others = (r.To.Others - r.From.Others).Seconds() / seconds
	w.cpu = us(r.To.CPU[process]-r.From.CPU[process]) / n
	w.broker = us(r.To.CPU[broker]-r.From.CPU[broker]) / n
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func mib(bytes int64) float64    { return float64(bytes) / (1 << 20) }
