package sluice.client;

import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Supplier;

/**
 * The body of a response that may say something about a limit: its beginning is read, and then it can still be read as a whole, by the
 * caller's subscriber. A response that is not handed to the caller costs the caller's subscriber nothing: it is never made.
 */
final class PeekingBody<T> implements BodySubscriber<PeekingBody.Peeked<T>> {
  private static final int MOST = 64 * 1024;

  /** The beginning, and what gives the body to the caller. {@code drop}: the body is not wanted. */
  record Peeked<T>(String beginning, Supplier<CompletionStage<T>> body, Runnable drop) {}

  private final Supplier<BodySubscriber<T>> maker;
  private final CompletableFuture<Peeked<T>> peeked = new CompletableFuture<>();
  private final List<ByteBuffer> kept = new ArrayList<>();
  private int size;
  private Flow.Subscription source;
  private BodySubscriber<T> caller; // Once the caller takes the body.
  private boolean isComplete;
  private Throwable error;
  private boolean isReplayed;

  PeekingBody(Supplier<BodySubscriber<T>> maker) {
    this.maker = maker;
  }

  @Override
  public CompletionStage<Peeked<T>> getBody() {
    return peeked;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    source = subscription;
    subscription.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    final BodySubscriber<T> to;
    synchronized (this) {
      to = caller;
      if (to == null) {
        kept.addAll(buffers);
        size += buffers.stream().mapToInt(ByteBuffer::remaining).sum();
      }
    }
    if (to != null) {
      to.onNext(buffers);
    } else if (size < MOST) {
      source.request(1);
    } else {
      show();
    }
  }

  @Override
  public void onError(Throwable failed) {
    end(failed);
  }

  @Override
  public void onComplete() {
    end(null);
  }

  private void end(Throwable failed) {
    final boolean replayed;
    synchronized (this) {
      isComplete = true;
      error = failed;
      replayed = isReplayed;
    }
    if (replayed) {
      finish();
    }
    show();
  }

  private void finish() {
    if (error != null) {
      caller.onError(error);
    } else {
      caller.onComplete();
    }
  }

  private void show() {
    if (peeked.isDone()) {
      return;
    }
    final StringBuilder beginning = new StringBuilder();
    final byte[] bytes = new byte[size];
    int at = 0;
    for (final ByteBuffer buffer : kept) {
      final int length = buffer.remaining();
      buffer.duplicate().get(bytes, at, length);
      at += length;
    }
    beginning.append(new String(bytes, StandardCharsets.UTF_8));
    peeked.complete(new Peeked<>(beginning.toString(), this::hand, () -> source.cancel()));
  }

  private CompletionStage<T> hand() {
    final BodySubscriber<T> to = maker.get();
    synchronized (this) {
      caller = to;
    }
    to.onSubscribe(new Flow.Subscription() {
      @Override
      public void request(long count) {
        final boolean first;
        final boolean complete;
        synchronized (PeekingBody.this) {
          first = !isReplayed;
          isReplayed = true;
          complete = isComplete;
        }
        if (first && !kept.isEmpty()) {
          to.onNext(List.copyOf(kept)); // One of those that were asked for.
          if (count > 1 && !complete) {
            source.request(count - 1);
          }
        } else if (!complete) {
          source.request(count);
        }
        if (first && complete) {
          finish();
        }
      }

      @Override
      public void cancel() {
        source.cancel();
      }
    });
    return to.getBody();
  }
}
