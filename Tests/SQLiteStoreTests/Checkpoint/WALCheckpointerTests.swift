import Dispatch
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("A write-ahead log that is checkpointed beside the saves")
struct WALCheckpointerTests {
  private struct DiskFull: Error {}

  @Test("stays within four times its size, and every save arrives")
  func bounded() throws {
    let file = try CheckpointedFile()
    let largest = try file.save(300)
    #expect(largest <= 4 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(try file.fileSize() > 10 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(try file.isWhole())
    #expect(file.reported.items.isEmpty)
  }

  @Test("stays so when the checkpointer is slower than the saves: they wait for it")
  func slow() throws {
    let saved = DispatchSemaphore(value: 0)
    let isOver = Atomic(false)
    let file = try CheckpointedFile { url in
      let connections = try CheckpointConnections(path: url.path)
      return {
        // Each round begins when the log is nearly as large as saves let it become.
        while !isOver.load(ordering: .relaxed),
          try CheckpointedFile.logSize(url) < 5 * CheckpointedFile.size * CheckpointedFile.page / 2
        {
          saved.wait()
        }
        try connections.checkpoint()
      }
    }
    let largest = try file.save(300) { saved.signal() }
    isOver.store(true, ordering: .relaxed)
    saved.signal()
    #expect(largest <= 4 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(try file.fileSize() > 10 * CheckpointedFile.size * CheckpointedFile.page)
    file.checkpointer.stop()
    #expect(try file.isWhole())
    #expect(file.reported.items.isEmpty)
  }

  @Test("grows while a reader needs an old state, which waits for no writer, and is short again afterwards")
  func readers() throws {
    let file = try CheckpointedFile()
    try file.save(5)
    let snapshot = try file.pool.makeSnapshot()
    let count: @Sendable (Database) throws -> Int? = { try Int.fetchOne($0, sql: "SELECT count(*) FROM Text") }
    #expect(try snapshot.read(count) == 5)
    let largest = try file.save(200)
    #expect(largest > 4 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(try snapshot.read(count) == 5)
    try snapshot.close()
    try file.save(2)
    #expect(try file.save(100) <= 4 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(try file.isWhole())
    #expect(file.reported.items.isEmpty)
  }

  @Test(
    "is checkpointed by the saves when the checkpointer fails, which is reported once in a row; it tries again after them"
  )
  func failing() throws {
    let copies = Recorder<Bool>()
    let file = try CheckpointedFile { url in
      let connections = try CheckpointConnections(path: url.path)
      return {
        let fails = copies.items.isEmpty
        copies.note(fails)
        if fails { throw DiskFull() }
        try connections.checkpoint()
      }
    }
    let largest = try file.save(300)
    #expect(largest <= 4 * CheckpointedFile.size * CheckpointedFile.page)
    file.checkpointer.stop()
    #expect(file.reported.items.count == 1)
    #expect(file.reported.items.first?.path.hasSuffix("texts.sqlite") == true)
    #expect(copies.items.count > 1)
    #expect(try file.isWhole())
  }

  @Test("is copied by the saves when the checkpointer can't open the file, or only another one that has its name now")
  func unopened() throws {
    let opened = Mutex(0)
    let unopenable = try CheckpointedFile { _ in
      opened.withLock { $0 += 1 }
      throw DiskFull()
    }
    #expect(try unopenable.save(200) <= 4 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(opened.withLock { $0 } == 1 && unopenable.reported.items.count == 1)
    #expect(try unopenable.isWhole())

    let moved = try CheckpointedFile()
    try moved.save(1)
    let elsewhere = moved.url.path + ".moved"
    try FileManager.default.moveItem(atPath: moved.url.path, toPath: elsewhere)
    let other = Data("another file".utf8)
    try other.write(to: moved.url)
    #expect(try moved.save(200) <= 4 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(moved.reported.items.count == 1)
    #expect(try Data(contentsOf: moved.url) == other)
    try FileManager.default.removeItem(at: moved.url)
    try FileManager.default.moveItem(atPath: elsewhere, toPath: moved.url.path)
    #expect(try moved.isWhole())
  }

  @Test("isn't checkpointed once the checkpointer was stopped, which waits for a checkpoint in progress")
  func stopped() throws {
    let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ended = Atomic(0)
    let copies = Recorder<Void>()
    let file = try CheckpointedFile { url in
      let connections = try CheckpointConnections(path: url.path)
      return {
        copies.note(())
        // Another may begin between the word to go on and that to stop.
        if copies.items.count == 1 {
          begun.signal()
          goOn.wait()
        }
        try connections.checkpoint()
        ended.add(1, ordering: .relaxed)
      }
    }
    try file.save(12)
    begun.wait()
    Thread.detachNewThread { goOn.signal() }
    file.checkpointer.stop()
    let (begunBefore, endedBefore) = (copies.items.count, ended.load(ordering: .relaxed))
    #expect(endedBefore == begunBefore)
    #expect(try file.save(100) <= 4 * CheckpointedFile.size * CheckpointedFile.page)
    #expect(copies.items.count == begunBefore)
    #expect(try file.isWhole())
  }

  @Test("the file's connections are closed with the checkpointer: the last to close the file removes its log")
  func closed() throws {
    let file = try CheckpointedFile()
    try file.save(40)
    file.checkpointer.stop()
    try file.pool.close()
    #expect(!FileManager.default.fileExists(atPath: file.url.path + "-wal"))
    #expect(try file.isWhole())
  }
}
