"""Takes events at an address that it prints, and answers whether the function of another module accepts them."""
import http.server, os, pathlib, sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
from signed import signed


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204 if signed(self.headers, body, os.environ["WEBHOOK_SECRET"]) else 401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
