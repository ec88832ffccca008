// A web server for one reader on this machine: listens on the loopback interface and a free port only,
// answers GET below a secret path and nothing else. A slow reader keeps no other one waiting.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace coppice::app {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// What a request that has arrived in full asks for.
struct HttpRequest {
  std::string method, path, host;
};
/// Takes the head of a request apart; an empty method if it is none.
HttpRequest parse_request(std::string_view head);

class LoopbackServer {
 public:
  /// `answer` is called with the path below the secret one ("" for the page). Error{cannot_read} if no socket
  /// can be had.
  explicit LoopbackServer(std::function<HttpAnswer(std::string_view path)> answer);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  /// http://127.0.0.1:PORT/SECRET/
  std::string address() const;
  /// Answers requests until `stop` is true.
  void serve(const std::atomic<bool>& stop);

 private:
  HttpAnswer respond(const HttpRequest& request) const;
  void converse(int descriptor, const std::atomic<bool>& stop);

  std::function<HttpAnswer(std::string_view path)> answer_;
  std::mutex answering_;
  int socket_ = -1;
  unsigned short port_ = 0;
  std::string secret_;
};

}  // namespace coppice::app
