"""Runs every example of README.md, in order, against a real daemon and a server that limits rates."""

import contextlib
import io
import re
import unittest

from support import ROOT, Daemon, Scripted, http_answer

TEXT = (ROOT / "clients" / "python" / "README.md").read_text(encoding="utf-8")
EXAMPLES = [(match.start(), match.group(1)) for match in re.finditer(r"^```python\n(.*?)^```", TEXT, re.M | re.S)]
RULES = re.search(r"^```yaml\n(.*?)^```", TEXT, re.M | re.S).group(1)


class ReadmeTest(unittest.TestCase):
    def test_every_example(self):
        daemon = Daemon(RULES)
        self.addCleanup(daemon.close)
        server = Scripted(lambda request, number: http_answer(200, "{}", 'RateLimit: "things";r=%d;t=30' % (30 - number)))
        self.addCleanup(server.close)
        self.assertGreater(len(EXAMPLES), 10)
        names = {}
        for at, example in EXAMPLES:
            line = TEXT.count("\n", 0, at) + 1
            # On a busy machine an answer may take longer than an example waits.
            example = re.sub(r'Client\("(http://[^"]+)"\)', r'Client("\1", timeout=10)', example)
            code = (example.replace("http://127.0.0.1:8080", daemon.url).replace("127.0.0.1:6380", daemon.resp)
                    .replace("https://api.example.com", server.url).replace("timeout=0.1,", "timeout=10,"))
            with self.subTest(line=line):
                missing = self.missing(code)
                if missing:
                    print("README.md:%d is not run: %s is not installed" % (line, missing))
                    continue
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec(compile("\n" * line + code, "README.md", "exec"), names)
                # What the example's comment shows is what it prints.
                for shown in re.findall(r"print\(.*\)  # (wait .*|now .*)$", example, re.M):
                    self.assertEqual(said.getvalue().strip(), shown)
        self.assertFalse(names["decision"].degraded)
        self.assertEqual(names["reservation"].settled[0].cost, 312)
        self.assertFalse(names["hold"].lost)

    @staticmethod
    def missing(code):
        for name in re.findall(r"^(?:import|from) ([a-z_]+)", code, re.M):
            try:
                __import__(name)
            except ImportError:
                return name
        if "sluice_client.limits" in code:
            return ReadmeTest.missing("import limits")
        return None


if __name__ == "__main__":
    unittest.main()
