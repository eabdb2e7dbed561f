// Package testdaemon runs a real Sluice daemon for tests. It uses no fixed ports.
package testdaemon

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Rules are what Start uses.
const Rules = `
rules:
  - {id: api, match: {endpoint: /api}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 3, window: 1h, burst: 3}
  - {id: quick, match: {endpoint: /quick}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1, window: 50ms, burst: 1}
  - {id: pages, match: {endpoint: /page}, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 2, window: 30d}
  - {id: jobs, match: {endpoint: /jobs}, key_pattern: "tenant:{tenant}", algorithm: concurrency, limit: 1, hold_ttl: 10s}
  - {id: tokens, match: {endpoint: /llm}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1000, window: 30d, burst: 1000}
  - {id: never, match: {endpoint: /never}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 0, window: 1m}
`

const config = `
listeners:
  - {address: "127.0.0.1:%s"}
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000}
rule_sources: [{files: [rules.yaml]}]
`

// Daemon is a process of the binary that the environment variable SLUICE names.
type Daemon struct {
	URL     string
	folder  string
	port    string
	process *exec.Cmd
}

// Start starts one, and ends it with the test. The test is skipped if SLUICE is not set.
func Start(t testing.TB, rules string) *Daemon {
	t.Helper()
	if os.Getenv("SLUICE") == "" {
		t.Skip("SLUICE is not set: it names the daemon's binary, such as build/dev/bin/sluice")
	}
	d, err := StartIn(t.TempDir(), rules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// StartIn starts one whose files are in a folder. Stop it.
func StartIn(folder, rules string) (*Daemon, error) {
	d := &Daemon{folder: folder, port: "0"}
	if err := os.WriteFile(filepath.Join(folder, "rules.yaml"), []byte(rules), 0o600); err != nil {
		return nil, err
	}
	return d, d.Start()
}

var checks = regexp.MustCompile(`^  checks\s+http://(\S+:(\d+))`)

// Start starts it again after Stop, on the same port.
func (d *Daemon) Start() error {
	if err := os.WriteFile(filepath.Join(d.folder, "sluice.yaml"), []byte(fmt.Sprintf(config, d.port)), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(d.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	d.process = exec.Command(os.Getenv("SLUICE"), "serve", "--config", "sluice.yaml")
	d.process.Dir, d.process.Stderr = d.folder, log
	greeting, err := d.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := d.process.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(greeting); lines.Scan(); {
		if found := checks.FindStringSubmatch(lines.Text()); found != nil {
			d.URL, d.port = "http://"+found[1], found[2]
		}
		if strings.HasPrefix(lines.Text(), "Try:") {
			return nil
		}
	}
	d.Stop()
	said, _ := os.ReadFile(filepath.Join(d.folder, "log"))
	return fmt.Errorf("the daemon did not start: %s", said)
}

// Stop kills it.
func (d *Daemon) Stop() {
	_ = d.process.Process.Kill()
	_ = d.process.Wait()
}

// Pause stops it without an end: its sockets stay open. Resume lets it go on.
func (d *Daemon) Pause() { _ = d.process.Process.Signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (d *Daemon) Resume() { _ = d.process.Process.Signal(syscall.SIGCONT) }

// Until waits until something is true.
func Until(t testing.TB, what func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if what() {
			return
		}
	}
	t.Fatal("it did not happen within 20 s")
}
