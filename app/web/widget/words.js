// What the widget says by itself; what the assistant says comes from the server.
import { words } from "../shared/i18n.js";

export const t = words({
  zh: {
    open: "打开客服对话", opened: "收起客服对话", unread: "{n} 条新消息", title: "在线客服", assistant: "智能客服：", close: "关闭", fresh: "新对话", past: "以前的对话", copy: "复制回答", copied: "已复制", person: "转人工", personSure: "要请人工客服来接待吗？客服会看到这里的对话。", personYes: "转人工", endSure: "结束后由智能客服接着回答，需要时可以再找人工。", say: "输入您的问题…", send: "发送", stop: "停止回答",
    log: "对话内容", loading: "正在加载…", thinking: "正在查资料…", welcome: "您可以这样问", you: "您：", earlier: "更早的消息", newest: "有新消息", restart: "开始新对话？当前的对话不会再显示。", restartYes: "开始", cancel: "取消",
    lookLow: "仅供参考", lookNone: "没有找到依据", lookNear: "没有直接写到", lookUnsure: "暂时不能确认", lookScope: "不在服务范围", lookPart: "只答了一部分", lookCare: "我们在认真处理", lookAsk: "请选择或补充", degraded: "部分服务暂时不可用，回答可能不完整", stopped: "已停止", withheld: "这一条含您本人的数据，登录后可见。",
    sources: "参考来源：", page: "第 {n} 页", yourPage: "您正在看的网页", rows: "您的账户数据", passage: "原文", unfold: "展开《{title}》这一节的其余 {n} 段", fold: "收起原文", quoted: "回答引用的部分：", passageGone: "原文已更新或下架，这里是回答时引用的片段。", original: "打开原网页", more: "相关问题",
    helpful: "有帮助", unhelpful: "没帮助", thanks: "谢谢您的反馈", why: "哪里不好？可以不填", reasons: "答非所问|没说清楚|内容不对|太长了", other: "其他原因", submit: "提交", decided: "这一轮怎么决定的",
    queued: "正在排队等人工客服", position: "，第 {n} 位", wait: "预计等待约 {n} 分钟", soon: "预计一分钟内接入", nobody: "客服暂时都不在线，上线后会联系您", answering: "等待时可以继续提问", leave: "退出排队",
    rateAsk: "这次人工服务怎么样？", rateStar: "{n} 分", rateWord: "想说一句？可以不写", rateLater: "以后再说", rated: "谢谢，评价已收到。", closed: "现在不在人工服务时间", ticket: "已登记工单 {n}", note: "给客服留言", noteText: "请留下问题的经过", noteContact: "联系方式（手机或邮箱，可不填）", noteSend: "提交留言", noteLine: "补充工单：{text}", noteContactLine: "联系方式：{contact}",
    serving: "{n} 正在为您服务", servingSome: "人工客服正在为您服务", typing: "正在输入…", end: "结束人工服务", delivered: "已送达", seen: "已读", attach: "发送图片或文件", uploading: "上传中…", remove: "移除", save: "保存", fileGone: "图片或文件已删除",
    event_request: "已请求人工客服", event_request_after_hours: "已请求人工客服，上班后联系您", event_open: "人工服务时间开始，正在排队", event_accept: "{n} 已接入", event_transfer: "已转接给 {n}", event_requeue: "已为您重新排队", event_release: "已为您重新排队", event_resolve: "人工服务已结束，智能客服继续为您服务", event_leave: "已退出排队", event_close: "人工服务已结束", event_expire: "长时间没有消息，人工服务已结束", someone: "人工客服",
    sending: "正在发送…", reconnecting: "连接断了，正在重新连接…", failed: "没有发送成功", limited: "请稍后再试（{n} 秒）", ready: "现在可以重试了", retry: "重试", offline: "网络已断开，恢复后会自动继续", lineLost: "与客服的连接断了，正在重连…", request: "请求编号 {id}", expired: "上一段对话已过期，这是新的对话。",
    needKey: "暂时不能对话", needKeyWhy: "这个页面还没有配置好，暂时不能对话。请联系网站的管理员。", badKey: "这个密钥不能在这里使用", badOrigin: "这个密钥不允许从这个网页使用，请联系网站管理员。",
  },
  en: {
    open: "Open the support chat", opened: "Hide the support chat", unread: "{n} new messages", title: "Support", assistant: "Assistant:", close: "Close", fresh: "New conversation", past: "Past conversations", copy: "Copy the answer", copied: "Copied", person: "Talk to a person", personSure: "Ask for a person? They will see this conversation.", personYes: "Ask for a person", endSure: "The assistant goes on afterwards; you can ask for a person again at any time.", say: "Type your question…", send: "Send", stop: "Stop",
    log: "Conversation", loading: "Loading…", thinking: "Looking it up…", welcome: "You could ask", you: "You:", earlier: "Earlier messages", newest: "New messages", restart: "Start a new conversation? This one will no longer be shown.", restartYes: "Start", cancel: "Cancel",
    lookLow: "For reference", lookNone: "Nothing found", lookNear: "Not stated directly", lookUnsure: "Cannot confirm right now", lookScope: "Outside this service", lookPart: "Answered in part", lookCare: "We take this seriously", lookAsk: "Choose one or say more", degraded: "Part of the service is unavailable; this may be incomplete", stopped: "Stopped", withheld: "This holds your own data; sign in to see it.",
    sources: "Sources:", page: "page {n}", yourPage: "The page you are on", rows: "Your account", passage: "Source text", unfold: "Show {n} more parts of this section of {title}", fold: "Hide the source text", quoted: "Quoted in the answer:", passageGone: "The document has changed or is gone; this is the passage that was quoted.", original: "Open the original page", more: "Related questions",
    helpful: "Helpful", unhelpful: "Not helpful", thanks: "Thank you for your feedback", why: "What was wrong? Optional", reasons: "Off the point|Unclear|Incorrect|Too long", other: "Something else", submit: "Submit", decided: "How this was decided",
    queued: "Waiting for a person", position: ", number {n} in the queue", wait: "about {n} min", soon: "less than a minute", nobody: "Nobody is online right now; we will get back to you", answering: "You can go on asking meanwhile", leave: "Leave the queue",
    rateAsk: "How was our colleague?", rateStar: "{n} of 5", rateWord: "A word, if you like", rateLater: "Later", rated: "Thank you for your rating.",
    closed: "Outside our service hours", ticket: "Ticket {n} was opened", note: "Leave a message", noteText: "What happened?", noteContact: "Phone or e-mail (optional)", noteSend: "Send message", noteLine: "补充工单：{text}", noteContactLine: "Contact: {contact}",
    serving: "{n} is helping you", servingSome: "A colleague is helping you", typing: "typing…", end: "End chat with person", delivered: "Delivered", seen: "Seen", attach: "Send a picture or file", uploading: "uploading…", remove: "Remove", save: "Save", fileGone: "This file was deleted",
    event_request: "You asked for a person", event_request_after_hours: "You asked for a person; we will be back in service hours", event_open: "Service hours began; you are in the queue", event_accept: "{n} joined", event_transfer: "You were handed over to {n}", event_requeue: "You are back in the queue", event_release: "You are back in the queue", event_resolve: "The person left; the assistant goes on", event_leave: "You left the queue", event_close: "The chat with a person ended", event_expire: "The chat with a person ended after a long silence", someone: "A colleague",
    sending: "Sending…", reconnecting: "Connection lost, reconnecting…", failed: "Not sent", limited: "Try again in {n} s", ready: "You can try again now", retry: "Retry", offline: "You are offline; this goes on once you are back", lineLost: "Connection to our staff lost, reconnecting…", request: "Request {id}", expired: "The earlier conversation expired; this is a new one.",
    needKey: "The chat is not available", needKeyWhy: "This page is not set up yet. Please contact the site's owner.", badKey: "This key cannot be used here", badOrigin: "This key may not be used from this page. Please contact the site's owner.",
  },
});

// What the server calls the suggestion that asks for a person; the widget has a button for it.
export const PERSON = ["转人工客服", "Talk to a person"];
