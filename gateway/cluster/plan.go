package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Resource says what a [Change] changes.
type Resource uint8

const (
	// ResourceInvalid is the zero Resource and never planned.
	ResourceInvalid Resource = iota
	// NewTopic: the topic Name is made.
	NewTopic
	// TopicSetting: Setting of the topic Name.
	TopicSetting
	// StartOffsets: the start offsets of the share group Name.
	StartOffsets
	// GroupSetting: Setting of the share group Name.
	GroupSetting
)

func (r Resource) String() string {
	switch r {
	case NewTopic, TopicSetting:
		return "topic"
	case StartOffsets, GroupSetting:
		return "share group"
	case ResourceInvalid:
	}
	return fmt.Sprintf("resource(%d)", uint8(r))
}

// MarshalText makes a Resource readable in JSON.
func (r Resource) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Change is one step of a plan.
type Change struct {
	Resource Resource `json:"resource"`
	Name     string   `json:"name"`    // of the topic or share group
	Setting  string   `json:"setting"` // what of it; "topic" for a new topic, "start offsets"
	Old      string   `json:"old"`     // empty: none so far
	New      string   `json:"new"`     // empty: none any more
	Why      string   `json:"why"`

	unknown bool      // the broker does not have such a setting
	needs   *Change   // without it this change would do harm
	topic   *newTopic // with NewTopic
	pin     *pin      // with StartOffsets
}

// newTopic is what a topic is made with.
type newTopic struct {
	partitions  int32
	replication int16
	settings    []setting
}

type setting struct{ name, value string }

// pin are the arguments of PinStart.
type pin struct {
	topics           []string
	start, isolation string
}

// String is the change in one line, without its reason.
func (c Change) String() string {
	return fmt.Sprintf("%s %s: %s %s -> %s", c.Resource, c.Name, c.Setting, orNone(c.Old), orNone(c.New))
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// PlanOptions are for the dead-letter topic, should it have to be made.
type PlanOptions struct {
	Partitions  int32 // 0: the cluster's default
	Replication int16 // 0: the cluster's default
}

// Plan returns what has to change so that the cluster is as w wishes, in the
// order in which to change it; nothing if it is already. It changes nothing
// itself.
//
// The order matters: a dead-letter topic is there and enabled before the group
// names it, since the broker drops what it cannot write; and the start offsets
// of a new group are pinned before share.auto.offset.reset goes to earliest,
// which would otherwise start the group at the beginning of every topic.
//
// What no setting can mend (a cluster without KIP-1191, a name without the
// prefix that the cluster demands) is an error that says what to do.
func (c *Cluster) Plan(ctx context.Context, w Wishes, o PlanOptions) ([]Change, error) {
	f, err := c.facts(ctx, w, true)
	if err == nil {
		err = f.permitted()
	}
	if err != nil {
		return nil, fmt.Errorf("plan for endpoint %q: %w", w.Endpoint, err)
	}
	unpinned, err := c.unpinned(ctx, w.Group, w.Topics)
	if err != nil {
		return nil, fmt.Errorf("plan for endpoint %q: %w", w.Endpoint, err)
	}
	changes, err := draft(w, f, unpinned, o)
	if err != nil {
		return nil, fmt.Errorf("plan for endpoint %q: %w", w.Endpoint, err)
	}
	return changes, nil
}

// permitted is the first refusal to look: a plan made blind could undo what
// it does not see.
func (f facts) permitted() error {
	for _, err := range []error{f.settingsErr, f.brokersErr, f.letters.err, f.letters.valuesErr} {
		if err != nil {
			return fmt.Errorf("%w; grant DESCRIBE_CONFIGS on the group, the dead-letter topic and the cluster", err)
		}
	}
	return nil
}

// draft is the plan for facts.
func draft(w Wishes, f facts, unpinned partitions, o PlanOptions) ([]Change, error) {
	d := drafter{w: w, f: f}
	if err := d.possible(); err != nil {
		return nil, err
	}
	letters := d.letters(o)
	start := d.start(unpinned)
	d.group(start)
	d.groupLetters(letters)
	return d.values(), nil
}

type drafter struct {
	w       Wishes
	f       facts
	changes []*Change
}

func (d *drafter) add(c Change) *Change {
	d.changes = append(d.changes, &c)
	return &c
}

func (d *drafter) values() []Change {
	var list []Change
	for _, c := range d.changes {
		list = append(list, *c)
	}
	return list
}

// possible says what no change can mend.
func (d *drafter) possible() error {
	j := judgement{w: d.w, f: d.f}
	switch d.w.DeadLetterBy {
	case ByNone:
		return nil
	case ByGateway:
		j.unfit()
	case ByBroker:
		if j.supported() {
			j.prefix(d.w.DeadLetterTopic)
			j.unfit()
		}
	default:
		j.nobody()
	}
	if faults := j.Faults(); len(faults) > 0 {
		return errors.New(faults[0].String())
	}
	return nil
}

// room is what the story that the gateway writes, or the broker's headers,
// can add to a record.
const room = 64 << 10

// maxMessage is the greatest message of the source topics with room for the
// story; 0 if none is known or none is needed.
func (d *drafter) maxMessage() int {
	if !d.w.carriesRecord() || len(d.f.sources) == 0 {
		return 0
	}
	largest := slices.MaxFunc(d.f.sources, func(a, b topic) int { return a.maxMessage() - b.maxMessage() })
	if largest.maxMessage() == 0 {
		return 0
	}
	return largest.maxMessage() + room
}

// letters plans the dead-letter topic; it returns the change that the group's
// naming it has to wait for, nil if none.
func (d *drafter) letters(o PlanOptions) *Change {
	if d.w.DeadLetterBy == ByNone {
		return nil
	}
	if !d.f.letters.exists {
		return d.newLetters(o)
	}
	t := d.f.letters
	if need := d.maxMessage(); need > t.maxMessage() && t.maxMessage() != 0 {
		d.add(Change{
			Resource: TopicSetting, Name: t.name, Setting: topicMaxMessage,
			Old: t.values[topicMaxMessage].text, New: strconv.Itoa(need),
			Why: "the greatest record of the source topics fits into a dead letter",
		})
	}
	if d.w.DeadLetterBy == ByBroker && t.values[topicDeadLetters].text != "true" {
		return d.add(Change{
			Resource: TopicSetting, Name: t.name, Setting: topicDeadLetters,
			Old: t.values[topicDeadLetters].text, New: "true",
			Why: "the broker writes dead letters only to topics that admit them, and drops the record otherwise",
		})
	}
	return nil
}

func (d *drafter) newLetters(o PlanOptions) *Change {
	t := &newTopic{partitions: o.Partitions, replication: o.Replication}
	if d.w.DeadLetterBy == ByBroker {
		t.settings = append(t.settings, setting{topicDeadLetters, "true"})
	}
	if need := d.maxMessage(); need > 0 {
		t.settings = append(t.settings, setting{topicMaxMessage, strconv.Itoa(need)})
	}
	return d.add(Change{
		Resource: NewTopic, Name: d.w.DeadLetterTopic, Setting: "topic", New: t.String(),
		Why:   "dead letters are written to it, by the " + d.w.DeadLetterBy,
		topic: t,
	})
}

// String says what the topic is made with.
func (t *newTopic) String() string {
	parts := []string{orDefault(int(t.partitions), "partitions"), orDefault(int(t.replication), "replicas")}
	for _, s := range t.settings {
		parts = append(parts, s.name+"="+s.value)
	}
	return strings.Join(parts, ", ")
}

func orDefault(n int, what string) string {
	if n == 0 {
		return "default " + what
	}
	return fmt.Sprintf("%d %s", n, what)
}

// start plans the start offsets of a new group.
func (d *drafter) start(unpinned partitions) *Change {
	if len(unpinned) == 0 {
		return nil
	}
	return d.add(Change{
		Resource: StartOffsets, Name: d.w.Group, Setting: "start offsets",
		New: fmt.Sprintf("%s (%s of %s)", d.w.Start, plural(unpinned.count(), "partition"), plural(len(unpinned), "topic")),
		Why: "what is produced while the first member joins is delivered too",
		pin: &pin{topics: d.w.Topics, start: d.w.Start, isolation: d.w.Isolation},
	})
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
