package kafka

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Nodes listen below the ephemeral range (Linux: from 32768, others: from
// 49152). A port out of that range could be given to any client while its
// node is down, and a client that dials it again and again would in the end
// connect to itself.
const (
	lowestPort  = 20000
	highestPort = 32000
)

// freePorts finds n ports on which nobody listens at the moment. They are not
// reserved: see startTries.
func freePorts(n int) ([]int, error) {
	var listen net.ListenConfig
	ports := make([]int, 0, n)
	for tries := 0; len(ports) < n; tries++ {
		if tries == 1000 {
			return nil, errors.New("no free loopback port")
		}
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		l, err := listen.Listen(context.Background(), "tcp4", loopback(port))
		if err != nil {
			continue
		}
		// Held until all are found, so that none is found twice.
		defer l.Close()
		ports = append(ports, port)
	}
	return ports, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// place is where one node of a cluster listens.
type place struct {
	id                         int32
	brokerPort, controllerPort int
}

func (p place) broker() string     { return loopback(p.brokerPort) }
func (p place) controller() string { return loopback(p.controllerPort) }
func (p place) voter() string      { return fmt.Sprintf("%d@%s", p.id, p.controller()) }

// newLayout spreads ports over nodes, whose ids start at 1.
func newLayout(ports []int) []place {
	var layout []place
	for i := 0; i+1 < len(ports); i += 2 {
		layout = append(layout, place{id: int32(len(layout) + 1), brokerPort: ports[i], controllerPort: ports[i+1]})
	}
	return layout
}
