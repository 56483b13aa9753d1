//go:build kafka

package process

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestExitCodes: 0 well, 1 it failed, 2 wrong use or a faulty or missing file.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	h := newHook(t, ok)
	n := name("codes")
	shared.CreateTopic(t, n, 1, nil)
	good := write(t, configuration(shared, endpoint(n, h, nil)))
	unfit := write(t, configuration(shared, endpoint(n, h, keys{"dead_letter": keys{"topic": "without-the-prefix"}})))
	faulty := write(t, keys{"kafka": keys{"brokers": shared.Seeds}, "endpoints": []keys{{"name": n, "topic": n}}})
	busy := write(t, configuration(shared, endpoint(n, h, nil)).with(keys{"admin": keys{"listen": h.server.Listener.Addr().String()}}))
	for _, c := range []struct {
		args []string
		code int
		says string // on stderr, or stdout when well
	}{
		{[]string{"version"}, 0, "kgo"},
		{[]string{"schema"}, 0, "$schema"},
		{[]string{"validate", "-c", good}, 0, "1 endpoint"},
		{[]string{"validate", "-c", faulty}, 2, "endpoints[0].topic"},
		{[]string{"validate", "-c", good + ".not"}, 2, "no configuration"},
		{[]string{"provision", "-c", unfit}, 1, `"dlq."`},
		{[]string{"provision", "-c", faulty}, 2, "endpoints[0].topic"},
		{[]string{"provision", "-c", good, "--dry-run"}, 0, "none made"},
		{[]string{"run", "-c", faulty}, 2, "endpoints[0].topic"},
		{[]string{"run", "-c", unfit, "--provision"}, 1, `"dlq."`},
		{[]string{"run", "-c", busy}, 1, h.server.Listener.Addr().String()},
		{[]string{"run", "-c", good, "more"}, 2, "more"},
		{[]string{"run", "--log-level", "loud"}, 2, "loud"},
		{[]string{"fly"}, 2, "fly"},
		{nil, 2, "name a command"},
	} {
		code, stdout, stderr := command(t, c.args...)
		said := stderr
		if c.code == 0 {
			said = stdout
		}
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("sharehook %s exits %d, want %d; it says %q, want %q in it", strings.Join(c.args, " "), code, c.code, said, c.says)
		}
	}
}

// TestProvisionDryRun: the plan is printed, nothing is changed; done for real
// it is the same, and then nothing is left to do.
func TestProvisionDryRun(t *testing.T) {
	t.Parallel()
	h := newHook(t, ok)
	n := name("plan")
	shared.CreateTopic(t, n, 2, nil)
	path := write(t, configuration(shared, endpoint(n, h, nil)))
	before := shared.GroupSettings(t, group(n))
	dry := plan(t, path, "--dry-run")
	if after := shared.GroupSettings(t, group(n)); !same(before, after) {
		t.Errorf("a dry run has changed the group from %v to %v", before, after)
	}
	if topics, err := shared.Admin().ListTopics(t.Context(), letters(n)); err != nil || topics.Has(letters(n)) && topics[letters(n)].Err == nil {
		t.Errorf("a dry run has made the dead-letter topic, or: %v", err)
	}
	done := plan(t, path)
	if strings.Join(dry, "\n") != strings.Join(done, "\n") || len(dry) == 0 {
		t.Errorf("planned was\n%s\nand done\n%s", strings.Join(dry, "\n"), strings.Join(done, "\n"))
	}
	want := map[string]string{
		groupLetters: letters(n), groupCopy: "true", "share.auto.offset.reset": "earliest",
		"share.isolation.level": "read_committed", "share.delivery.count.limit": "10",
		"share.record.lock.duration.ms": "30000", "share.partition.max.record.locks": "4000",
	}
	settings := shared.GroupSettings(t, group(n))
	for name, value := range want {
		if settings[name] != value {
			t.Errorf("%s is %q, want %q", name, settings[name], value)
		}
	}
	if again := plan(t, path); len(again) != 0 {
		t.Errorf("provisioned, and yet there is something to do:\n%s", strings.Join(again, "\n"))
	}
}

func same(a, b map[string]string) bool {
	for name, value := range a {
		if b[name] != value {
			return false
		}
	}
	return len(a) == len(b)
}

// plan runs provision and answers its changes.
func plan(t *testing.T, path string, args ...string) (changes []string) {
	t.Helper()
	code, stdout, stderr := command(t, append([]string{"provision", "-c", path, "--output", "json"}, args...)...)
	var printed struct {
		Plans []struct {
			Changes []struct{ Resource, Name, Setting, Old, New string }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &printed); err != nil || code != 0 {
		t.Fatalf("provision exits %d and prints %q %q: %v", code, stdout, stderr, err)
	}
	for _, p := range printed.Plans {
		for _, c := range p.Changes {
			changes = append(changes, strings.Join([]string{c.Resource, c.Name, c.Setting, c.Old, c.New}, " "))
		}
	}
	return changes
}

// TestSecretsStayHidden: a password never shows, whatever goes wrong with it.
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	const password = "p@s$$w0rd-never-shown" // $$ is a dollar sign
	h := newHook(t, ok)
	n := name("secret")
	path := write(t, configuration(shared, endpoint(n, h, nil)).with(keys{"kafka": keys{
		"brokers": shared.Seeds, "sasl": keys{"username": "somebody", "password": password},
	}}))
	g := start(t, path, "--log-level", "debug")
	g.AwaitUnready(n, readyWait)
	_, readyz := g.Get("/readyz")
	for where, text := range map[string]string{"the log": g.Text(), "/readyz": string(readyz)} {
		if strings.Contains(text, "w0rd-never-shown") {
			t.Errorf("%s shows the password:\n%s", where, text)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), password) {
		t.Errorf("the file does not hold the password (%v)", err)
	}
}
