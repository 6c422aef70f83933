// A function that the caller keeps, as an argument: the function that takes it is compiled once,
// unlike a template, and nothing is allocated, unlike std::function.
#pragma once

namespace loom {

template <class Signature>
class BorrowedCall;
template <class R, class... Args>
class BorrowedCall<R(Args...)> {
 public:
  template <class F>
  BorrowedCall(const F& f)  // NOLINT: lambdas convert
      : f_(&f), call_([](const void* made, Args... args) -> R {
          return (*static_cast<const F*>(made))(args...);
        }) {}
  R operator()(Args... args) const { return call_(f_, args...); }

 private:
  const void* f_;
  R (*call_)(const void*, Args...);
};

}  // namespace loom
