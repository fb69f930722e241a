// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "embedder/process.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dojo::test {

EmbeddingServer::EmbeddingServer(const std::string& mode) {
  static int count = 0;
  log_ = (std::filesystem::temp_directory_path() /
          ("embedding-server-" + std::to_string(getpid()) + "-" + std::to_string(++count)))
             .string();
  std::filesystem::remove(log_);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(DOJO_BINARY_DIR "/bin/embedding_server", "embedding_server", mode.c_str(), log_.c_str(),
          nullptr);
    _exit(127);
  }
  close(ends[1]);
  for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) port_ += c;
  close(ends[0]);
}

EmbeddingServer::~EmbeddingServer() {
  end();
  std::filesystem::remove(log_);
}

void EmbeddingServer::end() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::vector<std::string> EmbeddingServer::requests() const {
  std::vector<std::string> out;
  std::ifstream in(log_);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace dojo::test
