package config

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Greatest lengths in bytes.
const (
	maxName  = 63  // of an endpoint: a DNS label, as those of Kubernetes
	maxTopic = 249 // Kafka's own limit
	maxGroup = 249 // Kafka has no limit but that of its records; ours keeps dlq.<share group> near a topic's
)

var (
	nameForm  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	topicForm = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)
	hostForm  = regexp.MustCompile(`^[a-zA-Z0-9_]([a-zA-Z0-9_.-]*[a-zA-Z0-9_.])?$`)
)

func checkName(name string) string {
	switch {
	case name == "":
		return "is no name; write one of a-z, 0-9 and '-'"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d characters; shorten it", maxName)
	case !nameForm.MatchString(name):
		return "is no name; use a-z, 0-9 and '-', with a letter or digit at both ends"
	}
	return ""
}

// checkTopicEntry checks a topic, or a regular expression over topics.
func checkTopicEntry(entry string) string {
	if !strings.HasPrefix(entry, "^") {
		return checkTopic(entry)
	}
	if _, err := regexp.Compile(entry); err != nil {
		return "is no regular expression of Go's syntax (RE2); correct it"
	}
	return ""
}

// checkTopic holds Kafka's rules for the names of topics.
func checkTopic(topic string) string {
	switch {
	case topic == "" || topic == "." || topic == "..":
		return "is no topic; write its name"
	case len(topic) > maxTopic:
		return fmt.Sprintf("is longer than Kafka's %d characters; shorten it", maxTopic)
	case !topicForm.MatchString(topic):
		return "is no lawful topic; use a-z, A-Z, 0-9, '.', '_' and '-', or begin a regular expression with ^"
	}
	return ""
}

// checkDeadLetterTopic adds what KIP-1191 demands of a dead-letter topic. Empty
// means the default.
func checkDeadLetterTopic(topic string) string {
	switch {
	case topic == "":
		return ""
	case strings.HasPrefix(topic, "__"):
		return "begins with __, which Kafka keeps for itself; choose another name"
	}
	if checkTopic(topic) != "" {
		return fmt.Sprintf("is no lawful topic; use at most %d of a-z, A-Z, 0-9, '.', '_' and '-'", maxTopic)
	}
	return ""
}

// checkGroupName leaves groups more freedom than topics, as Kafka does. Empty
// means the default.
func checkGroupName(name string) string {
	switch {
	case len(name) > maxGroup:
		return fmt.Sprintf("is longer than %d characters; shorten it", maxGroup)
	case !isVisible(name):
		return "holds blanks or other characters than visible ASCII; rename it"
	}
	return ""
}

func checkClientID(id string) string {
	switch {
	case id == "":
		return "is empty; write a name, or remove the key"
	case len(id) > maxGroup:
		return fmt.Sprintf("is longer than %d characters; shorten it", maxGroup)
	case !isVisible(id):
		return "holds blanks or other characters than visible ASCII; rename it"
	}
	return ""
}

// isVisible tells whether a text is visible ASCII throughout.
func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}

func checkBroker(address string) string {
	if strings.Contains(address, "://") {
		return "has a scheme; write host:port alone, and kafka.tls for TLS"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, "9092" // Kafka's own
		if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
			host = host[1 : len(host)-1]
		}
	}
	if !isHost(host) || !isPort(port, 1) {
		return "is no address of a broker; write host:port, and [address]:port for IPv6"
	}
	return ""
}

// checkListen checks the address of the admin server. Empty turns it off; an
// empty host means all addresses, port 0 a free one.
func checkListen(address string) string {
	if address == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || host != "" && !isHost(host) || !isPort(port, 0) {
		return "is no address to listen on; write host:port, as 127.0.0.1:8400 or :8400"
	}
	return ""
}

func checkServerName(name string) string {
	if name != "" && !isHost(name) {
		return "is no host name; write the name that the certificate bears, without port"
	}
	return ""
}

func isHost(host string) bool {
	address, zone, zoned := strings.Cut(host, "%")
	if zoned && zone == "" {
		return false
	}
	return net.ParseIP(address) != nil || len(host) <= 253 && hostForm.MatchString(host)
}

func isPort(port string, least int) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && int(n) >= least && wholeNumber.MatchString(port)
}
