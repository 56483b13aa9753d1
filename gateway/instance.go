package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// instance names this process among all that have ever run as the same
// replica: the replica's id, the process-ID namespace it lives in and its
// number there. It is the end of the client ID of all our members, so that a
// successor recognises those that a killed predecessor has left behind.
type instance struct {
	id        string // Options.InstanceID
	namespace string // unknown where the system has none
	pid       int
}

const unknownNamespace = "0"

func newInstance(id string) instance {
	if id == "" {
		id, _ = os.Hostname()
	}
	i := instance{id: notInClientID.ReplaceAllString(id, "_"), namespace: unknownNamespace, pid: os.Getpid()}
	// As pid:[4026531836]; there is none but on Linux.
	if link, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		if number := namespaceNumber.FindString(link); number != "" {
			i.namespace = number
		}
	}
	return i
}

var (
	namespaceNumber = regexp.MustCompile(`[0-9]+`)
	notInClientID   = regexp.MustCompile(`[^A-Za-z0-9_.-]`)
)

// clientID is the client ID of this process's members.
func (i instance) clientID(base string) string {
	return fmt.Sprintf("%s/%s/%s/%d", base, i.id, i.namespace, i.pid)
}

// gone says whether clientID is that of a process that ran as this replica and
// runs no more. Of a process in our own namespace the system tells. One in
// another namespace with our id is gone as well: a container that is started
// again has its predecessor's host name, and no two replicas have the same id
// at a time.
func (i instance) gone(base, clientID string) bool {
	rest, ok := strings.CutPrefix(clientID, base+"/"+i.id+"/")
	if !ok {
		return false
	}
	namespace, number, ok := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	if !ok || err != nil || pid <= 0 {
		return false
	}
	if namespace != i.namespace {
		return namespace != unknownNamespace && i.namespace != unknownNamespace
	}
	return pid == i.pid || !lives(pid) // our own number belongs to us now
}

// lives says whether there is a process of that number that has not ended.
func lives(pid int) bool {
	// Signal 0 asks and sends nothing; a process that we may not signal lives.
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	// One that was killed answers until its parent has taken notice of it: the
	// field behind the name, which is in brackets, is its state.
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return true
	}
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X"))
}
