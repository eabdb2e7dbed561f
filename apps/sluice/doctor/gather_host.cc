#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include "doctor/gather.h"
#include "net/listener.h"

namespace sluice::app::doctor {

namespace {

namespace fs = std::filesystem;

// The soft limit of open files of a process; 0: not known.
std::uint64_t FileLimitOf(const std::string& process) {
  std::ifstream limits("/proc/" + process + "/limits");
  for (std::string line; std::getline(limits, line);) {
    constexpr std::string_view kName = "Max open files";
    if (line.starts_with(kName)) {
      return std::strtoull(line.c_str() + kName.size(), nullptr, 10);
    }
  }
  return 0;
}

// The inodes of the sockets that listen on `port`, from a file like /proc/net/tcp.
void AddListeningSockets(const char* file, std::uint16_t port, std::set<std::string>& inodes) {
  std::ifstream sockets(file);
  std::string line;
  std::getline(sockets, line);
  while (std::getline(sockets, line)) {
    // "  0: 0100007F:1F90 00000000:0000 0A ... uid timeout inode": 0A is LISTEN.
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    std::string skipped;
    std::string inode;
    words >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) {
      words >> skipped;
    }
    words >> inode;
    const std::size_t colon = local.rfind(':');
    if (state == "0A" && colon != std::string::npos &&
        std::strtoul(local.c_str() + colon + 1, nullptr, 16) == port) {
      inodes.insert("socket:[" + inode + "]");
    }
  }
}

// The processes that have one of these sockets, as far as this user may see.
std::vector<std::string> ProcessesWith(const std::set<std::string>& sockets) {
  std::vector<std::string> processes;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename();
    std::error_code hidden;
    if (name.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    for (fs::directory_iterator file(at->path() / "fd", hidden);
         !hidden && file != fs::directory_iterator(); file.increment(hidden)) {
      std::error_code gone;
      if (sockets.contains(fs::read_symlink(file->path(), gone).string())) {
        processes.push_back(name);
        break;
      }
    }
  }
  return processes;
}

void ReadListeners(const DaemonConfig& config, HostFacts& facts) {
  for (const ListenerConfig& listener : config.listeners) {
    const auto endpoint = net::ParseAddress(listener.address);
    if (!endpoint || endpoint->port() == 0) {
      continue;
    }
    std::set<std::string> sockets;
    AddListeningSockets("/proc/net/tcp", endpoint->port(), sockets);
    AddListeningSockets("/proc/net/tcp6", endpoint->port(), sockets);
    auto processes = ProcessesWith(sockets);
    if (facts.daemon_files == 0 && processes.size() == 1) {
      facts.daemon_files = FileLimitOf(processes.front());
    }
    facts.listeners.push_back({.address = listener.address, .processes = std::move(processes)});
  }
}

}  // namespace

HostFacts LookAtHost(const ConfigurationFacts* configuration) {
  HostFacts facts;
  timex clock{};
  const int state = ::adjtimex(&clock);
  facts.knows_clock = state >= 0;
  facts.clock_is_synchronised =
      state >= 0 && state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
  if (configuration == nullptr) {
    return facts;
  }
  ReadListeners(configuration->config, facts);
  const std::string& path = configuration->table.path;
  struct statvfs room{};
  if (!path.empty() && ::statvfs(fs::path(path).parent_path().c_str(), &room) == 0) {
    facts.table_folder = fs::path(path).parent_path();
    facts.free_bytes = std::uint64_t{room.f_bavail} * room.f_frsize;
    std::error_code absent;
    const auto there = fs::file_size(path, absent);
    facts.table_there = absent ? 0 : there;
    const TableConfig& table = configuration->config.table;
    constexpr std::uint64_t kKeyBytes = 80;  // With the slots that stay free.
    constexpr std::uint64_t kBlockBytes = 128;
    facts.table_needs =
        table.keys * kKeyBytes + (table.blocks == 0 ? table.keys / 4 : table.blocks) * kBlockBytes;
  }
  return facts;
}

}  // namespace sluice::app::doctor
