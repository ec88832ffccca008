#include "coppice/model/nrmm/data_parallel_message.hpp"

#include "coppice/base/byte_stream.hpp"

namespace coppice::nrmm {
namespace {

template <typename T>
void put_list(ByteWriter& writer, const std::vector<T>& values) {
  writer.put(static_cast<std::uint64_t>(values.size()));
  writer.put(values.data(), values.size());
}

template <typename T>
std::vector<T> get_list(ByteReader& reader) {
  const auto count = reader.get<std::uint64_t>();
  if (count > reader.left() / sizeof(T))
    fail(ErrorCode::bad_data, "the run file is damaged: a state ends too early");
  std::vector<T> values(count);
  reader.get(values.data(), values.size());
  return values;
}

void put(ByteWriter& writer, const DrawnClusters& clusters) {
  put_list(writer, clusters.log_weights);
  put_list(writer, clusters.thetas);
}

DrawnClusters get_clusters(ByteReader& reader) {
  DrawnClusters clusters;
  clusters.log_weights = get_list<double>(reader);
  clusters.thetas = get_list<double>(reader);
  return clusters;
}

void put(ByteWriter& writer, const Assignment& assignment) {
  writer.put(assignment.name);
  put(writer, assignment.clusters);
  put_list(writer, assignment.anchor_keys);
  put_list(writer, assignment.anchor_rows);
}

Assignment get_assignment(ByteReader& reader) {
  Assignment assignment;
  assignment.name = reader.get<StreamName>();
  assignment.clusters = get_clusters(reader);
  assignment.anchor_keys = get_list<double>(reader);
  assignment.anchor_rows = get_list<std::uint64_t>(reader);
  const std::size_t clusters = assignment.clusters.size();
  if (assignment.anchor_keys.size() != clusters || assignment.anchor_rows.size() != clusters)
    fail(ErrorCode::bad_data, "the run file is damaged: {} clusters with {} anchors", clusters,
         assignment.anchor_rows.size());
  return assignment;
}

}  // namespace

std::string encode_assignment(const Assignment& assignment) {
  ByteWriter writer;
  put(writer, assignment);
  return writer.take();
}

Assignment decode_assignment(std::string_view bytes) {
  ByteReader reader(bytes);
  Assignment assignment = get_assignment(reader);
  reader.end();
  return assignment;
}

std::string BlockMessage::encode() const {
  ByteWriter writer;
  writer.put(question);
  put_list(writer, hyper);
  writer.put(static_cast<std::uint64_t>(labels_are_kept));
  put(writer, assignment);
  writer.put(name);
  put_list(writer, rows);
  writer.put(static_cast<std::uint64_t>(pairs.size()));
  for (const RowPair& pair : pairs) {
    writer.put(pair.first);
    writer.put(pair.second);
    writer.put(pair.first_slot);
    writer.put(pair.second_slot);
    writer.put(pair.launch_share);
    writer.put(pair.second_share);
  }
  writer.put(stage);
  writer.put(static_cast<std::uint64_t>(all_rows));
  put(writer, sides);
  return writer.take();
}

BlockMessage BlockMessage::decode(std::string_view bytes) {
  ByteReader reader(bytes);
  BlockMessage message;
  message.question = reader.get<Question>();
  message.hyper = get_list<double>(reader);
  message.labels_are_kept = reader.get<std::uint64_t>() != 0;
  message.assignment = get_assignment(reader);
  message.name = reader.get<StreamName>();
  message.rows = get_list<std::uint64_t>(reader);
  message.pairs.resize(reader.get<std::uint64_t>());
  for (RowPair& pair : message.pairs) {
    pair.first = reader.get<std::uint64_t>();
    pair.second = reader.get<std::uint64_t>();
    pair.first_slot = reader.get<std::uint32_t>();
    pair.second_slot = reader.get<std::uint32_t>();
    pair.launch_share = reader.get<double>();
    pair.second_share = reader.get<double>();
  }
  message.stage = reader.get<std::uint64_t>();
  message.all_rows = reader.get<std::uint64_t>() != 0;
  message.sides = get_clusters(reader);
  reader.end();
  return message;
}

}  // namespace coppice::nrmm
