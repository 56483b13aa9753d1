package kafka

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// serverProperties is the server.properties of one node, without log.dirs,
// which the node adds.
func serverProperties(layout []place, at place, o Options) map[string]string {
	voters := make([]string, 0, len(layout))
	for _, p := range layout {
		voters = append(voters, p.voter())
	}
	// With three nodes the internal topics must outlive one of them.
	replicas, inSync := "1", "1"
	if len(layout) > 1 {
		replicas, inSync = "3", "2"
	}
	props := map[string]string{
		"process.roles":                  "broker,controller",
		"node.id":                        strconv.Itoa(int(at.id)),
		"controller.quorum.voters":       strings.Join(voters, ","),
		"listeners":                      "PLAINTEXT://" + at.broker() + ",CONTROLLER://" + at.controller(),
		"controller.listener.names":      "CONTROLLER",
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"auto.create.topics.enable":      "false",

		"offsets.topic.replication.factor":                 replicas,
		"offsets.topic.num.partitions":                     "1",
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.min.isr":                    inSync,
		"transaction.state.log.num.partitions":             "1",
		"share.coordinator.state.topic.replication.factor": replicas,
		"share.coordinator.state.topic.min.isr":            inSync,
		"share.coordinator.state.topic.num.partitions":     "1",

		// Small: a node shares two cores and 256 MB with its tests.
		"num.network.threads":            "2",
		"num.io.threads":                 "4",
		"background.threads":             "2",
		"log.cleaner.dedupe.buffer.size": "4194304",
	}
	if !o.Production {
		maps.Copy(props, shortTimes())
	}
	if at == layout[0] {
		for _, listener := range o.Listeners {
			props["listeners"] += "," + listener
		}
	}
	for name, value := range o.Settings {
		if value == "" {
			delete(props, name)
		} else {
			props[name] = value
		}
	}
	return props
}

// shortTimes make what takes a minute in production take seconds.
func shortTimes() map[string]string {
	return map[string]string{
		"group.share.min.heartbeat.interval.ms":      "500",
		"group.share.heartbeat.interval.ms":          "500",
		"group.share.min.session.timeout.ms":         "2000",
		"group.share.session.timeout.ms":             "6000",
		"group.share.min.record.lock.duration.ms":    "1000",
		"group.share.max.record.lock.duration.ms":    "600000",
		"group.share.max.partition.max.record.locks": "10000",
		// A dead node is noticed after 3 s instead of 9 s.
		"broker.session.timeout.ms":    "3000",
		"broker.heartbeat.interval.ms": "500",
		// Consumer groups start at once.
		"group.initial.rebalance.delay.ms": "0",
	}
}

// formatProperties prints properties in the order of their names.
func formatProperties(props map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(props)) {
		fmt.Fprintf(&b, "%s=%s\n", name, props[name])
	}
	return b.String()
}
