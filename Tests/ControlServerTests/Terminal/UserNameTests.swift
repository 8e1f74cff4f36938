import ControlAPI
import Synchronization
import Testing

@testable import ladectl

@Suite("Users' names")
struct UserNameTests {
  @Test("times in a text of the daemon are shown in the local zone, as all others")
  func times() throws {
    let time = try #require(WireFormat.date(of: "2026-11-22T21:28:53Z"))
    #expect("until 2026-11-22T21:28:53Z".namingUsers == "until \(Quantity.time(time))")
    #expect("Zed 2026".namingUsers == "Zed 2026")
  }

  @Test("users are shown by their names, and by their numbers where the system has no name for them")
  func naming() {
    let asked = Mutex<[UInt32]>([])
    let names = UserNames { number in
      asked.withLock { $0.append(number) }
      return [0: "root", 1001: "anna"][number]
    }
    #expect(names.naming("user 1001") == "anna")
    #expect(names.naming("spool (user 1001)") == "spool (anna)")
    #expect(names.naming("held by user 0, cancelled by user 1001") == "held by root, cancelled by anna")
    #expect(names.naming("user 7 and user 7") == "user 7 and user 7")
    #expect(
      names.naming("superuser 0, user 10019999999, user 99999999999, users 0")
        == "superuser 0, user 10019999999, user 99999999999, users 0")
    #expect(asked.withLock { $0 } == [1001, 0, 7])
  }
}
