#include "coppice/app/loopback_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <random>
#include <thread>

#include "coppice/base/error.hpp"

namespace coppice::app {
namespace {

constexpr std::size_t kMostHead = 16 * 1024;
constexpr int kPulse = 200;  // milliseconds between looks at the stop flag
constexpr std::size_t kMostConnections = 32;
// For a reader to say what it wants, or to take what it gets: between two pieces, and in all.
constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::seconds kLongestConversation{30};

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

/// One reader: waits for it, but neither forever nor beyond the end of the server.
class Connection {
 public:
  Connection(int descriptor, const std::atomic<bool>& stop) : descriptor_(descriptor), stop_(stop) {}
  ~Connection() { ::close(descriptor_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::string read_head() const {
    std::string head;
    char buffer[4096];
    while (head.size() < kMostHead && head.find("\r\n\r\n") == std::string::npos) {
      if (!wait_for(POLLIN)) return {};
      const ssize_t count = ::recv(descriptor_, buffer, sizeof buffer, MSG_DONTWAIT);
      if (count <= 0) return {};
      head.append(buffer, static_cast<std::size_t>(count));
    }
    return head.find("\r\n\r\n") == std::string::npos ? std::string() : head;
  }

  void write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      if (!wait_for(POLLOUT)) return;
      const ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count <= 0) return;  // the reader has left
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool wait_for(short what) const {
    const Clock::time_point end = std::min(Clock::now() + kPatience, begin_ + kLongestConversation);
    while (!stop_ && Clock::now() < end)
      if (ready(descriptor_, what, kPulse)) return true;
    return false;
  }

  int descriptor_;
  const std::atomic<bool>& stop_;
  Clock::time_point begin_ = Clock::now();
};

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

void LoopbackServer::converse(int descriptor, const std::atomic<bool>& stop) {
  const Connection connection(descriptor, stop);
  const std::string head = connection.read_head();
  if (head.empty()) return;
  HttpAnswer answer;
  {
    const std::scoped_lock lock(answering_);  // one answer at a time, however many readers there are
    answer = respond(parse_request(head));
  }
  connection.write_all(
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
                  "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                  "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"
                  "Connection: close\r\n\r\n",
                  answer.status, reason(answer.status), answer.type, answer.body.size()));
  connection.write_all(answer.body);
}

void LoopbackServer::serve(const std::atomic<bool>& stop) {
  struct Conversation {
    std::atomic<bool> is_over{false};
    std::thread thread;
  };
  std::list<Conversation> conversations;
  const auto sweep_up = [&](bool wait) {
    conversations.remove_if([&](Conversation& conversation) {
      if (!wait && !conversation.is_over) return false;
      conversation.thread.join();
      return true;
    });
  };
  while (!stop) {
    sweep_up(false);
    // Others wait in the queue of the system.
    if (conversations.size() >= kMostConnections) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kPulse));
      continue;
    }
    if (!ready(socket_, POLLIN, kPulse)) continue;
    const int descriptor = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) continue;
    Conversation& conversation = conversations.emplace_back();
    conversation.thread = std::thread([&conversation, &stop, descriptor, this] {
      converse(descriptor, stop);
      conversation.is_over = true;
    });
  }
  sweep_up(true);
}

}  // namespace coppice::app
