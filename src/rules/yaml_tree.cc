#include "rules/yaml_tree.h"

#include <exception>
#include <sstream>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "rules/foreign_yaml.h"

namespace sluice::rules {

namespace {

// Makes the tree out of the parser's events. Once a limit is passed it only lets the rest of
// the text go by: an exception of our own through the parser would be the alternative.
class TreeBuilder final : public YAML::EventHandler {
 public:
  // kLenient: keys are not looked at.
  enum class Keys : std::uint8_t { kChecked, kLenient };

  TreeBuilder(std::deque<YamlNode>& nodes, const std::string& file, std::vector<Error>& problems,
              Keys keys)
      : nodes_(nodes), file_(file), problems_(problems), keys_(keys) {}

  // nullptr where there is no document, or where it was given up.
  [[nodiscard]] const YamlNode* root() const { return stopped_ ? nullptr : root_; }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Leaf(mark, anchor, YamlNode::Kind::kNull, "", false);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Leaf(mark, anchor, YamlNode::Kind::kText, value, tag != "?" && !tag.empty());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (stopped_) {
      return;
    }
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end() || found->second.size == 0) {
      Stop(mark, "an alias is inside the value that it refers to");
      return;
    }
    if (Count(mark, found->second.size)) {
      Place(found->second.node);
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override {
    if (!stopped_ && keys_ == Keys::kChecked) {
      CheckKeys(*open_.back().node);
    }
    Close();
  }

 private:
  struct Frame {
    YamlNode* node;
    YAML::anchor_t anchor;
    std::size_t count_before;
  };
  struct Anchored {
    const YamlNode* node = nullptr;
    std::size_t size = 0;  // Nodes in it, aliases counted in full; 0 while it is still open.
  };

  void Stop(const YAML::Mark& mark, std::string message) {
    stopped_ = true;
    problems_.push_back({std::move(message), {file_, mark.line + 1, mark.column + 1}});
  }

  bool Count(const YAML::Mark& mark, std::size_t nodes) {
    count_ += nodes;
    if (count_ > kMaxYamlNodes) {
      Stop(mark, "more than " + std::to_string(kMaxYamlNodes) +
                     " values, aliases counted in full: split the file");
      return false;
    }
    return true;
  }

  YamlNode* Add(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode& node = nodes_.emplace_back();
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return &node;
  }

  void Place(const YamlNode* node) {
    if (open_.empty()) {
      root_ = node;
    } else {
      open_.back().node->items.push_back(node);
    }
  }

  void Leaf(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind,
            const std::string& text, bool quoted) {
    if (stopped_ || !Count(mark, 1)) {
      return;
    }
    YamlNode* node = Add(mark, kind);
    if (kind == YamlNode::Kind::kNull && !open_.empty() && open_.back().node->is_map() &&
        open_.back().node->items.size() % 2 == 1) {
      // The parser sees "burst:" end where the next line begins: the key is where to look.
      const YamlNode& key = *open_.back().node->items.back();
      if (key.line != node->line) {
        node->line = key.line;
        node->column = key.column;
      }
    }
    node->text = text;
    node->quoted = quoted;
    if (anchor != YAML::NullAnchor) {
      anchors_[anchor] = {node, 1};
    }
    Place(node);
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (stopped_ || !Count(mark, 1)) {
      return;
    }
    if (open_.size() >= kMaxYamlDepth) {
      Stop(mark, "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
      return;
    }
    YamlNode* node = Add(mark, kind);
    Place(node);
    if (anchor != YAML::NullAnchor) {
      anchors_[anchor] = {node, 0};
    }
    open_.push_back({node, anchor, count_ - 1});
  }

  void Close() {
    if (stopped_) {
      return;
    }
    const Frame frame = open_.back();
    open_.pop_back();
    if (frame.anchor != YAML::NullAnchor) {
      anchors_[frame.anchor] = {frame.node, count_ - frame.count_before};
    }
  }

  void CheckKeys(const YamlNode& map) {
    seen_.clear();
    for (std::size_t i = 0; i < map.pair_count(); ++i) {
      const YamlNode& key = map.key(i);
      if (key.is_null()) {
        problems_.push_back(
            {"a key is empty or null: write it in quotes", {file_, key.line, key.column}});
      } else if (!key.is_text()) {
        problems_.push_back(
            {"a key must be a plain word, not a list or a map", {file_, key.line, key.column}});
      } else if (const auto [first, fresh] = seen_.try_emplace(key.text, key.line); !fresh) {
        problems_.push_back({"key " + key.text + " is given twice (first in line " +
                                 std::to_string(first->second) + "): remove one of them",
                             {file_, key.line, key.column}});
      }
    }
  }

  std::deque<YamlNode>& nodes_;
  const std::string& file_;
  std::vector<Error>& problems_;
  const Keys keys_;
  const YamlNode* root_ = nullptr;
  std::vector<Frame> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  std::unordered_map<std::string_view, int> seen_;
  std::size_t count_ = 0;
  bool stopped_ = false;
};

// Control characters end or derail a YAML scanner (0x04 is its end of file): what follows one
// would be ignored in silence.
bool HasControlCharacter(std::string_view text, const std::string& file,
                         std::vector<Error>& problems) {
  int line = 1;
  int column = 1;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') {
      problems.push_back({"a control character (byte " + std::to_string(static_cast<int>(c)) +
                              "): rule files are UTF-8 text; write \"\\x..\" in quotes",
                          {file, line, column}});
      return true;
    }
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n' ? 1 : 0;
  }
  return false;
}

// Reads documents one after the other off a text; problems of it all go to `problems`.
class Documents {
 public:
  Documents(std::string_view text, const std::string& file, std::vector<Error>& problems)
      : file_(file), problems_(problems) {
    if (text.size() > kMaxTextBytes) {
      problems_.push_back({"larger than " + std::to_string(kMaxTextBytes >> 20) +
                               " MiB: split it into several files",
                           {file_, 0, 0}});
    } else if (!HasControlCharacter(text, file_, problems_)) {
      stream_.str(std::string(text));
      readable_ = true;
    }
  }

  // Calls read(parser) unless the text is not to be read. Never throws.
  template <class Read>
  void With(const Read& read) {
    if (!readable_) {
      return;
    }
    try {
      YAML::Parser parser(stream_);
      read(parser);
    } catch (const YAML::Exception& e) {
      problems_.push_back({"not YAML: " + e.msg,
                           {file_, e.mark.is_null() ? 0 : e.mark.line + 1,
                            e.mark.is_null() ? 0 : e.mark.column + 1}});
    } catch (const std::exception& e) {
      problems_.push_back({std::string("cannot be read: ") + e.what(), {file_, 0, 0}});
    }
  }

 private:
  const std::string& file_;
  std::vector<Error>& problems_;
  std::istringstream stream_;
  bool readable_ = false;
};

}  // namespace

YamlTree::YamlTree(std::string_view text, const std::string& file, std::vector<Error>& problems) {
  root_ = &nodes_.emplace_back();
  TreeBuilder builder(nodes_, file, problems, TreeBuilder::Keys::kChecked);
  Documents(text, file, problems).With([&](YAML::Parser& parser) {
    if (!parser.HandleNextDocument(builder) || builder.root() == nullptr) {
      return;
    }
    root_ = builder.root();
    std::deque<YamlNode> more;
    std::vector<Error> ignored;
    TreeBuilder second(more, file, ignored, TreeBuilder::Keys::kChecked);
    if (parser.HandleNextDocument(second)) {
      const bool placed = second.root() != nullptr && second.root()->line > 0;
      problems.push_back(
          {"a second YAML document begins (---): a source holds one",
           {file, placed ? second.root()->line : 0, placed ? second.root()->column : 0}});
    }
  });
}

ForeignYaml::ForeignYaml(std::string_view text, const std::string& file,
                         std::vector<Error>& problems) {
  root_ = &nodes_.emplace_back();
  TreeBuilder builder(nodes_, file, problems, TreeBuilder::Keys::kLenient);
  Documents(text, file, problems).With([&](YAML::Parser& parser) {
    if (parser.HandleNextDocument(builder) && builder.root() != nullptr) {
      root_ = builder.root();
    }
  });
}

}  // namespace sluice::rules
