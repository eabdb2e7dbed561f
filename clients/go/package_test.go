package sluice

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice.example/sluice/internal/testdaemon"
)

const (
	module  = "sluice.example/sluice"
	version = "v0.1.0"
)

// publish puts the module's archive into a folder that is a module proxy, as a registry would have it. It is what another
// program gets: without the modules in its folders.
func publish(t *testing.T, proxy string) (names []string) {
	t.Helper()
	folder := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
				return filepath.SkipDir
			}
			return nil
		}
		names = append(names, filepath.ToSlash(path))
		to, err := archive.Create(module + "@" + version + "/" + filepath.ToSlash(path))
		if err != nil {
			return err
		}
		from, err := os.Open(path)
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(to, from)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, "list", version+"\n")
	write(t, folder, version+".info", fmt.Sprintf(`{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`, version))
	write(t, folder, version+".mod", string(mod))
	return names
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs the go command in a clean environment: it knows no module but those of the proxy.
func run(t *testing.T, folder, home, proxy string, words ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in the PATH")
	}
	command := exec.Command("go", words...)
	command.Dir = folder
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GOPATH=" + home, "GOCACHE=" + goCache(t), "GOTOOLCHAIN=local",
		"GOPROXY=file://" + filepath.ToSlash(proxy), "GOSUMDB=off", "GOFLAGS=-modcacherw", "CGO_ENABLED=0"}
	said, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(words, " "), err, said)
	}
	return string(said)
}

// goCache is where compiled packages are kept, also those of the standard library. The sources come from the proxy alone.
func goCache(t *testing.T) string {
	t.Helper()
	said, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(said))
}

const try = `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"sluice.example/sluice"
	"sluice.example/sluice/throttle"
)

func main() {
	client, err := sluice.New(sluice.Config{URL: os.Args[1], Timeout: 20 * time.Second, Policy: throttle.DefaultPolicy()})
	if err != nil {
		panic(err)
	}
	for i := 0; i < 3; i++ {
		decision, err := client.Check(context.Background(), sluice.Attributes{"ip": "10.9.9.9", "endpoint": "/page"})
		fmt.Println(decision.Allowed, decision.Reason(), decision.Degraded, err)
	}
}
`

func TestTheArchiveInAProgramOfItsOwn(t *testing.T) {
	daemon := testdaemon.Start(t, testdaemon.Rules)
	proxy, app, home := t.TempDir(), t.TempDir(), t.TempDir()
	names := publish(t, proxy)
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") && name != "go.mod" && name != "README.md" && name != "test.sh" {
			t.Error("the archive has", name)
		}
	}
	write(t, app, "main.go", try)
	write(t, app, "go.mod", "module example.com/app\n\ngo 1.19\n")
	run(t, app, home, proxy, "get", module+"@"+version)
	mod, err := os.ReadFile(filepath.Join(app, "go.mod"))
	if err != nil || !strings.Contains(string(mod), "require "+module+" "+version) {
		t.Error(err, string(mod))
	}
	same(t, run(t, app, home, proxy, "run", ".", daemon.URL),
		"true  false <nil>\ntrue  false <nil>\nfalse quota_exceeded false <nil>\n")
	same(t, run(t, app, home, proxy, "list", "-m", "all"), "example.com/app\n"+module+" "+version+"\n") // Nothing else is needed.
}

// TestTheExamplesOfTheReadme runs them as one program, in their order, against a real daemon with the README's rules.
func TestTheExamplesOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	daemon := testdaemon.Start(t, regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(text))[1])
	proxy, app, home := t.TempDir(), t.TempDir(), t.TempDir()
	publish(t, proxy)
	examples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(examples) < 8 {
		t.Error("the README has", len(examples), "examples")
	}
	imports, body := map[string]bool{}, ""
	for _, example := range examples {
		code := regexp.MustCompile(`(?m)^import "(.*)"\n`).ReplaceAllStringFunc(example[1], func(line string) string {
			imports[strings.TrimSpace(line)] = true
			return ""
		})
		body += "\n" + code
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit", `"things";r=30;t=30`)
	}))
	defer api.Close()
	body = strings.NewReplacer( // On a busy machine an answer may take longer than an example waits.
		`sluice.Config{URL: "http://127.0.0.1:8080"`, `sluice.Config{Timeout: 20 * time.Second, URL: "`+daemon.URL+`"`,
		"http://127.0.0.1:8080", daemon.URL, "100 * time.Millisecond", "20 * time.Second", "https://api.example.com", api.URL,
	).Replace(body)
	program := "package main\n\n"
	for line := range imports {
		program += line + "\n"
	}
	write(t, app, "main.go", program+"\nfunc main() {"+body+"}\n")
	write(t, app, "go.mod", "module example.com/app\n\ngo 1.19\n")
	run(t, app, home, proxy, "get", module+"@"+version)
	said := run(t, app, home, proxy, "run", ".")
	for _, shown := range regexp.MustCompile(`(?m)Print.*\) +// ([a-z0-9].+)$`).FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(said, shown[1]+"\n") {
			t.Errorf("the README shows %q, and it prints\n%s", shown[1], said)
		}
	}
}
