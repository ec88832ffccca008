#include "coppice/app/loopback_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "coppice/base/error.hpp"

namespace coppice::app {
namespace {

constexpr std::size_t kMostHead = 16 * 1024;
constexpr int kPatience = 2000;  // milliseconds for a reader to say what it wants, or to take what it gets
constexpr int kPulse = 200;      // milliseconds between looks at the stop flag

std::string make_secret() {
  std::random_device device;
  std::string secret;
  for (int word = 0; word < 4; ++word) secret += fmt::format("{:08x}", device());
  return secret;
}

bool ready(int descriptor, short what, int milliseconds) {
  pollfd wait{descriptor, what, 0};
  return ::poll(&wait, 1, milliseconds) == 1 && (wait.revents & what) != 0;
}

std::string read_head(int connection) {
  std::string head;
  char buffer[4096];
  while (head.size() < kMostHead && head.find("\r\n\r\n") == std::string::npos) {
    if (!ready(connection, POLLIN, kPatience)) return {};
    const ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0) return {};
    head.append(buffer, static_cast<std::size_t>(count));
  }
  return head.find("\r\n\r\n") == std::string::npos ? std::string() : head;
}

void write_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    if (!ready(connection, POLLOUT, kPatience)) return;
    const ssize_t count = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;  // the reader has left
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string_view reason(int status) {
  return status == 200 ? "OK" : status == 404 ? "Not Found" : status == 405 ? "Method Not Allowed" : "Error";
}

}  // namespace

HttpRequest parse_request(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos ||
      !line.substr(second + 1).starts_with("HTTP/1."))
    return {};
  HttpRequest request{
      std::string(line.substr(0, first)), std::string(line.substr(first + 1, second - first - 1)), {}};
  for (std::size_t at = line.size() + 2; at < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string_view field = head.substr(at, end - at);
    constexpr std::string_view kHost = "host:";
    const bool is_host = field.size() > kHost.size() &&
                         std::equal(kHost.begin(), kHost.end(), field.begin(),
                                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
    if (is_host) {
      const std::size_t begin = field.find_first_not_of(" \t", kHost.size());
      if (begin != std::string_view::npos) request.host = std::string(field.substr(begin));
    }
    at = end + 2;
  }
  return request;
}

LoopbackServer::LoopbackServer(std::function<HttpAnswer(std::string_view path)> answer)
    : answer_(std::move(answer)), secret_(make_secret()) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof name;
  auto* generic = reinterpret_cast<sockaddr*>(&name);
  if (socket_ < 0 || ::bind(socket_, generic, length) != 0 || ::listen(socket_, 16) != 0 ||
      ::getsockname(socket_, generic, &length) != 0) {
    const int error = errno;
    if (socket_ >= 0) ::close(socket_);
    fail(ErrorCode::cannot_read, "cannot listen on any port of this machine: {}", std::strerror(error));
  }
  port_ = ntohs(name.sin_port);
}

LoopbackServer::~LoopbackServer() { ::close(socket_); }

std::string LoopbackServer::address() const { return fmt::format("http://127.0.0.1:{}/{}/", port_, secret_); }

HttpAnswer LoopbackServer::respond(const HttpRequest& request) const {
  if (request.method.empty()) return {400, "text/plain; charset=utf-8", "this is not a request\n"};
  if (request.method != "GET") return {405, "text/plain; charset=utf-8", "this server is read-only\n"};
  // A page of another site that got its name to mean this machine would send that name.
  const bool ours = request.host == fmt::format("127.0.0.1:{}", port_) ||
                    request.host == fmt::format("localhost:{}", port_);
  const std::string prefix = "/" + secret_ + "/";
  if (!ours || !request.path.starts_with(prefix))
    return {404, "text/plain; charset=utf-8", "there is nothing here; use the complete address\n"};
  return answer_(std::string_view(request.path).substr(prefix.size()));
}

void LoopbackServer::converse(int connection) const {
  const std::string head = read_head(connection);
  if (head.empty()) return;
  const HttpAnswer answer = respond(parse_request(head));
  write_all(
      connection,
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
                  "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                  "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"
                  "Connection: close\r\n\r\n",
                  answer.status, reason(answer.status), answer.type, answer.body.size()));
  write_all(connection, answer.body);
}

void LoopbackServer::serve(const std::atomic<bool>& stop) {
  while (!stop) {
    if (!ready(socket_, POLLIN, kPulse)) continue;
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    converse(connection);
    ::close(connection);
  }
}

}  // namespace coppice::app
