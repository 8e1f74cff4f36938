import Foundation
import Logging
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("Failures of a store's work in the background")
struct BackgroundFailureTests {
  private struct Line: Equatable {
    var level: Logger.Level
    var message: String
    var store: String?
    var code: String?
  }

  private final class Record: Sendable {
    let lines = Mutex<[Line]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(record: self) } }

    private struct Handler: LogHandler {
      let record: Record
      var metadata: Logger.Metadata = [:]
      var logLevel = Logger.Level.trace

      init(record: Record) { self.record = record }

      subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: Logging.LogEvent) {
        let line = Line(
          level: event.level, message: "\(event.message)", store: event.metadata?["store"]?.description,
          code: event.metadata?["code"]?.description)
        record.lines.withLock { $0.append(line) }
      }
    }
  }

  @Test("a checkpoint that fails is a warning in the daemon's log, with the store's name, once")
  func checkpoint() throws {
    let directory = try ScratchDirectory()
    try ModelText(
      ModelText.entity("Member", unique: ["number"], [.attribute("number", "Integer 64"), .attribute("name")])
    )
    .write(to: directory.file("Model.xcdatamodeld").path)
    let file = directory.file("lade.yaml")
    try Data(
      """
      state: \(directory.url.path)
      stores: {main: {path: main.sqlite, model: Model.xcdatamodeld}}
      """.utf8
    ).write(to: file)
    let record = Record()
    let stores = try DataStores(DaemonConfiguration.load(path: file.path).stores, record.logger)
    let coordinator = try #require(stores["main"]).coordinator
    defer { try? coordinator.close() }

    // The log of a file that has been renamed isn't checkpointed: its name may be another file's.
    let place = directory.file("main.sqlite").path
    try FileManager.default.moveItem(atPath: place, toPath: place + ".moved")
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let text = String(repeating: "x", count: 1 << 20)
    for number in 1...40 {
      let member = try context.insert("Member")
      try member.setValue(.int(Int64(number)), forKey: "number")
      try member.setValue(.string(text), forKey: "name")
      try context.save()
    }
    let lines = record.lines.withLock { $0 }
    #expect(lines.count == 1)
    let line = try #require(lines.first)
    #expect(line.level == .warning && line.store == "main" && line.code == "readOnly")
    #expect(line.message.hasPrefix("store main: \(place): the write-ahead log can't be checkpointed"))
  }
}
