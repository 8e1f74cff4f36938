/// Where a writer's bytes go.
protocol ByteSink: AnyObject {
  /// Takes bytes that go behind those before.
  func write(_ bytes: UnsafeRawBufferPointer) throws
  /// There are no more.
  func finish() throws
}

/// Straight into the file.
final class PlainSink: ByteSink {
  private let file: AtomicFile

  init(_ file: AtomicFile) { self.file = file }

  func write(_ bytes: UnsafeRawBufferPointer) throws { try file.write(bytes) }
  func finish() {}
}
