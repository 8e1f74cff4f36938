import Testing

@testable import ControlServer

@Suite("The date of answers")
struct AnswerDateTests {
  @Test(
    "is as RFC 9110 has it",
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
    ])
  func text(_ second: Int, _ text: String) {
    #expect(AnswerDate.text(of: second) == text)
  }
}
