// The entry points of libFuzzer. One program for all targets: FUZZ_TARGET chooses one.

import Foundation

/// The target of this run. Written once, before libFuzzer runs the first input, and read by its one thread.
private nonisolated(unsafe) var target: (any FuzzTarget)?

/// Makes the target; called once.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzer(
  _ argumentCount: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer
) -> CInt {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  let known = FuzzTargets.all
  guard let make = known.first(where: { $0.name == name })?.make else {
    complain("FUZZ_TARGET must be one of: \(known.map(\.name).joined(separator: " "))")
  }
  do {
    target = try make()
  } catch {
    complain("\(name) can't begin: \(error)")
  }
  return 0
}

/// Runs one input; called for each.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let target, count > 0 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  do {
    try target.run(input)
  } catch {
    complain("\(error)")
  }
  return 0
}

/// Ends the program so that libFuzzer keeps the input.
func complain(_ text: String) -> Never {
  FileHandle.standardError.write(Data("FUZZ: \(text)\n".utf8))
  abort()
}
