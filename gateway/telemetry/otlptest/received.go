package otlptest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Span is a span as it arrived. Ids are in hexadecimal, values of attributes
// as text.
type Span struct {
	Resource   map[string]string
	Scope      string
	Name       string
	Kind       string // client, consumer, ...
	TraceID    string
	SpanID     string
	ParentID   string // empty: a root
	Attributes map[string]string
	Links      []Link
	Events     []string // their names, in order
	Failed     bool     // its status is an error
}

// Link is a link to another span.
type Link struct{ TraceID, SpanID string }

// Metric is one point of a metric as it arrived.
type Metric struct {
	Resource   map[string]string
	Scope      string
	Name       string
	Unit       string
	Attributes map[string]string
	Value      float64 // of a sum or gauge; of a histogram, its sum
	Count      uint64  // of a histogram
}

// Spans are those that have arrived, in the order of their arrival.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Metrics are the points that have arrived, in the order of their arrival.
func (c *Collector) Metrics() []Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.metrics)
}

func (c *Collector) addSpans(received []*tracepb.ResourceSpans) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range received {
		from := attributes(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, newSpan(from, scope.GetScope().GetName(), span))
			}
		}
	}
}

func newSpan(resource map[string]string, scope string, span *tracepb.Span) Span {
	s := Span{
		Resource:   resource,
		Scope:      scope,
		Name:       span.GetName(),
		Kind:       strings.ToLower(strings.TrimPrefix(span.GetKind().String(), "SPAN_KIND_")),
		TraceID:    hex.EncodeToString(span.GetTraceId()),
		SpanID:     hex.EncodeToString(span.GetSpanId()),
		ParentID:   hex.EncodeToString(span.GetParentSpanId()),
		Attributes: attributes(span.GetAttributes()),
		Failed:     span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR,
	}
	for _, link := range span.GetLinks() {
		s.Links = append(s.Links, Link{
			TraceID: hex.EncodeToString(link.GetTraceId()),
			SpanID:  hex.EncodeToString(link.GetSpanId()),
		})
	}
	for _, e := range span.GetEvents() {
		s.Events = append(s.Events, e.GetName())
	}
	return s
}

func (c *Collector) addMetrics(received []*metricpb.ResourceMetrics) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range received {
		from := attributes(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				for _, point := range points(metric) {
					point.Resource, point.Scope = from, scope.GetScope().GetName()
					c.metrics = append(c.metrics, point)
				}
			}
		}
	}
}

// points are those of the kinds of metric that the gateway sends.
func points(metric *metricpb.Metric) []Metric {
	var found []Metric
	add := func(attrs []*common.KeyValue, value float64, count uint64) {
		found = append(found, Metric{
			Name: metric.GetName(), Unit: metric.GetUnit(),
			Attributes: attributes(attrs), Value: value, Count: count,
		})
	}
	for _, p := range metric.GetSum().GetDataPoints() {
		add(p.GetAttributes(), p.GetAsDouble(), 0)
	}
	for _, p := range metric.GetGauge().GetDataPoints() {
		add(p.GetAttributes(), p.GetAsDouble(), 0)
	}
	for _, p := range metric.GetHistogram().GetDataPoints() {
		add(p.GetAttributes(), p.GetSum(), p.GetCount())
	}
	return found
}

func attributes(pairs []*common.KeyValue) map[string]string {
	found := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		found[pair.GetKey()] = text(pair.GetValue())
	}
	return found
}

func text(value *common.AnyValue) string {
	switch v := value.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	default:
		return value.String()
	}
}
