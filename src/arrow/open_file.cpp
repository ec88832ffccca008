// Reads Parquet files, and Arrow files and streams, with Apache Arrow: the module libcoppice_arrow.so. Tables
// leave it through the C stream interface alone, so that it may use another standard library.
#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <parquet/arrow/reader.h>

#include <cstdio>
#include <memory>
#include <string_view>

namespace {

arrow::Result<std::shared_ptr<arrow::Table>> read(const std::shared_ptr<arrow::io::BufferReader>& file,
                                                  std::string_view bytes) {
  if (bytes.starts_with("PAR1")) {
    ARROW_ASSIGN_OR_RAISE(const auto reader, parquet::arrow::OpenFile(file, arrow::default_memory_pool()));
    return reader->ReadTable();
  }
  if (bytes.starts_with("ARROW1")) {
    ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
    arrow::RecordBatchVector batches;
    for (int i = 0; i < reader->num_record_batches(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(i));
      batches.push_back(std::move(batch));
    }
    return arrow::Table::FromRecordBatches(reader->schema(), batches);
  }
  ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchStreamReader::Open(file));
  return reader->ToTable();
}

arrow::Status open_stream(std::string_view bytes, ArrowArrayStream* stream) {
  const auto buffer = std::make_shared<arrow::Buffer>(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                      static_cast<std::int64_t>(bytes.size()));
  ARROW_ASSIGN_OR_RAISE(const auto table, read(std::make_shared<arrow::io::BufferReader>(buffer), bytes));
  return arrow::ExportRecordBatchReader(std::make_shared<arrow::TableBatchReader>(table), stream);
}

}  // namespace

/// 0, or 1 and a message. The bytes must outlive the stream.
extern "C" int coppice_open_arrow(const char* bytes, std::size_t size, ArrowArrayStream* stream,
                                  char* message, std::size_t message_size) {
  arrow::Status status;
  try {
    status = open_stream({bytes, size}, stream);
  } catch (const std::exception& problem) {
    status = arrow::Status::Invalid(problem.what());
  }
  if (status.ok()) return 0;
  std::snprintf(message, message_size, "%s", status.message().c_str());
  return 1;
}
